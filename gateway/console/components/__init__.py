"""Small parts that pages are made of, one a module."""
