package dataset
