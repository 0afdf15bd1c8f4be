package policies
