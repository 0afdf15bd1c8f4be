package crawler
