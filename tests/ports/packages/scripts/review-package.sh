printf 'Changed:\n'
ls -1
