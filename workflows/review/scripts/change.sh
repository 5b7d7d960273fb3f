# The change that is reviewed. Each step of workflow.yaml calls one of the last functions with dir, of and what earlier steps gave in the environment.
export LC_ALL=C GIT_OPTIONAL_LOCKS=0
DEFAULT=HEAD~1

fail() {
  echo "$1" >&2
  exit 1
}

git() { command git --no-pager -c core.quotePath=false -c core.fsmonitor= -c core.warnAmbiguousRefs=false "$@"; }

changed() { git diff --no-ext-diff --no-textconv --no-color --no-relative --ignore-submodules=untracked "$@"; }

# Fails with the first line that git says, and with what to do.
usable() {
  command -v git > /dev/null || fail "There is no command git here: install it."
  local said
  said=$(git rev-parse --is-inside-work-tree 2> /dev/null) || said=$(git rev-parse --is-inside-work-tree 2>&1)
  case $said in
    true) return ;;
    *"dubious ownership"*) fail "${said%%$'\n'*}: ${said##*$'\t'}" ;;
    *"not a git repository"*) fail "${said%%$'\n'*}: start pi in a folder of one, or make one with git init" ;;
    false) fail "fatal: this operation must be run in a work tree: start pi outside of git's own folder" ;;
    *) fail "${said%%$'\n'*}" ;;
  esac
}

# Prints the commit, or the empty tree, with which the files are compared, as JSON.
base() {
  usable
  case $of in -*) fail "no commit: write of=refs/heads/$of for a branch whose name begins with -" ;; esac
  local shallow commit base said
  shallow=$(git rev-parse --is-shallow-repository)
  if ! commit=$(git rev-parse --verify --end-of-options "$of^{commit}" 2> /dev/null); then
    commit=$(git rev-parse --verify --end-of-options "$of^{commit}" 2>&1)
    # Before the first commit there is nothing; the parents of the last commit of a shallow clone are only missing.
    if [ "$of" = "$DEFAULT" ] && [ "$shallow" = false ] && ! git rev-parse --verify --quiet HEAD^ > /dev/null; then
      printf '{"base": "%s", "how": "empty"}\n' "$(git hash-object -t tree --stdin < /dev/null)"
      return
    fi
    said="${commit%%$'\n'*}: no commit $of here"
    if [ "$shallow" = true ]; then
      fail "$said, as this clone is shallow: run git fetch --unshallow (in a CI job fetch-depth: 0)"
    elif git rev-parse --verify --quiet --end-of-options "origin/$of^{commit}" > /dev/null; then
      fail "$said: write of=origin/$of"
    fi
    fail "$said: git log shows those that there are"
  fi
  if base=$(git merge-base "$commit" HEAD 2> /dev/null); then
    printf '{"base": "%s", "how": "%s"}\n' "$base" "$([ "$base" = "$commit" ] && echo same || echo merge-base)"
  else
    printf '{"base": "%s", "how": "unrelated"}\n' "$commit"
  fi
}

untracked() { git ls-files -z --full-name --others --exclude-standard -- :/ ':(exclude).pi/workflow-runs'; }

# Prints all files of the change, each on a line with its added and removed lines.
list() {
  untracked | tr '\n\0' '?\n' | sed 's/^/not tracked, to be read: /'
  changed --numstat --summary "$base" -- || exit 1
}

whole() {
  local all
  all=$(list) || exit 1
  [ -n "$all" ] || fail "no change since $of"
  printf '%s\n' "$all"
}

# Sets `hidden` to the files that attributes keep out of a diff although they are text.
find_hidden() {
  local path attribute value counts
  hidden=()
  while IFS= read -r -d '' path && IFS= read -r -d '' attribute && IFS= read -r -d '' value; do
    [ "$value" = unset ] && ! { on_disk "$path"; git cat-file blob "$base:$path" 2> /dev/null | head -c 8000; } | has_nul && hidden+=("$path")
  done < <(
    changed --no-renames --numstat -z "$base" -- | while IFS= read -r -d '' counts; do
      case $counts in -$'\t'-$'\t'*) printf '%s\0' "${counts#-$'\t'-$'\t'}" ;; esac
    done | git -C "./$(git rev-parse --show-cdup)" check-attr -z --stdin diff
  )
}

on_disk() {
  local file
  file=./$(git rev-parse --show-cdup)$1
  [ ! -f "$file" ] || [ -L "$file" ] || head -c 8000 "$file"
}

has_nul() { [ "$(tr -dc '\0' | wc -c)" -gt 0 ]; }

# Prints at most 20 lines, and the number of the others.
some() { awk 'NR <= 20 { print "- " $0 } END { if (NR > 20) print "- and " NR - 20 " more" }'; }

# Prints what the reviewers must know of the change, and its files: all up to 300, or else its folders.
files() {
  local up all
  up=$(git rev-parse --show-cdup)
  if [ -n "$up" ]; then echo "Paths begin at \`${up%/}\`, seen from your folder: read \`${up}PATH\`."; else echo "Paths begin at \`.\`, your folder."; fi
  case $how in
    merge-base) echo "It begins where HEAD and $of parted, at $base." ;;
    unrelated)
      echo "HEAD and $of have no commit in common, so they are compared directly: the work of others may look like its reverse."
      [ "$(git rev-parse --is-shallow-repository)" = false ] || echo "This clone is shallow; git fetch --unshallow gets the missing commits."
      ;;
    empty) echo "There is no commit before it: all files are new." ;;
  esac
  echo "One file of it: git diff --text --no-ext-diff --no-textconv $base -- ':/PATH'"
  find_hidden
  if [ ${#hidden[@]} -gt 0 ]; then
    echo "Attributes (-diff) keep these texts out of git's diff; here they are shown, first of all:"
    printf '%s\n' "${hidden[@]}" | some
  fi
  local unseen
  unseen=$(git ls-files -v -z --full-name -- :/ | while IFS= read -r -d '' file; do
    case $file in [a-zS]" "*) [ ! -e "./$up${file#??}" ] || printf '%s\n' "${file#??}" ;; esac
  done)
  if [ -n "$unseen" ]; then
    echo "git does not look at these files (assume-unchanged, skip-worktree), so changes in them are left out:"
    printf '%s\n' "$unseen" | some
  fi
  echo
  all=$(list)
  local count
  count=$({ untracked; changed --name-only -z "$base" --; } | tr -dc '\0' | wc -c)
  if [ "$count" -le 300 ] && [ ${#all} -le 18000 ]; then
    printf '%s\n' "Its files, with the lines that are added and removed:" "$all"
    return
  fi
  # The summary of the step with the list names its file.
  local file
  file=$(printf '%s\n' "$list" | sed -n '1s/^… (.*: \(.*\))$/\1/p')
  echo "$((count)) files${file:+, all of them in $file}. Their folders:"
  { untracked; changed --name-only -z "$base" --; } | tr '\n\0' '?\n' | folders
}

# Prints the folders of paths with the numbers of their files, as deep as 150 lines allow.
folders() {
  awk -F/ '
    { paths[NR] = $0 }
    END {
      for (depth = 12; depth >= 1; depth--) {
        split("", counts); groups = 0
        for (i = 1; i <= NR; i++) {
          parts = split(paths[i], names, "/"); folder = ""
          for (j = 1; j < parts && j <= depth; j++) folder = folder names[j] "/"
          if (!(folder in counts)) groups++
          counts[folder]++
        }
        if (groups <= 150) break
      }
      for (folder in counts) print counts[folder] "\t" (folder == "" ? "./" : folder)
    }' | sort -rn | awk 'NR <= 150 { print } END { if (NR > 150) print "and " NR - 150 " more folders" }'
}

# Prints the change; what attributes would hide comes first, because a long output loses its beginning.
diff_all() {
  find_hidden
  local path others=() shown=()
  for path in "${hidden[@]}"; do
    shown+=(":(top,literal)$path")
    others+=(":(top,exclude,literal)$path")
  done
  if [ ${#shown[@]} -gt 0 ]; then changed --text "$base" -- "${shown[@]}" || exit 1; fi
  changed "$base" -- :/ "${others[@]}"
}
