#!/bin/sh
# Starts ampconv with the loader and the libraries that were installed with it, wherever that tree lies.
here=$(readlink -f -- "$0") || exit 2
libraries=${here%/*}/@LIBRARIES@
exec "$libraries/@LOADER@" --library-path "$libraries" "$libraries/ampconv" "$@"
