package discover
