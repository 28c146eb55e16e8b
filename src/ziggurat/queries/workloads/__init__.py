"""Many counting questions known beforehand, measured together: the matrix mechanism."""
