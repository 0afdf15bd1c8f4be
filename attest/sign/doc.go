package sign
