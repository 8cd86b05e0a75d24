"""The start page and the library of patterns, without Qt: small pictures of files, and facts."""
