#!/bin/sh
# Creates the namespace and our search attributes in a running Temporal service, waiting up to a minute for it. Idempotent.
# Takes TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE (and whatever else the temporal CLI reads, such as TEMPORAL_API_KEY);
# RETENTION says how long closed workflows are kept. Needs the temporal CLI.
set -eu

: "${TEMPORAL_ADDRESS:=127.0.0.1:7233}" "${TEMPORAL_NAMESPACE:=default}" "${RETENTION:=720h}"
export TEMPORAL_ADDRESS TEMPORAL_NAMESPACE
folder=$(cd "$(dirname "$0")" && pwd)

# Tries once a second, and shows what the command said only when it has failed for the last time.
retry() {
  attempt=1
  until output=$("$@" 2>&1); do
    if [ "$attempt" -ge 60 ]; then
      echo "$* failed at $TEMPORAL_ADDRESS: $output" >&2
      exit 1
    fi
    attempt=$((attempt + 1))
    sleep 1
  done
}

retry temporal operator cluster health

if ! temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  retry temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
fi

# Those that exist already are left alone. A new namespace is known to all parts of the service only after some seconds.
sed -n 's/^ *"\([A-Za-z]*\)": "\([A-Za-z]*\)".*/\1 \2/p' "$folder/search-attributes.json" |
  while read -r name type; do
    retry temporal operator search-attribute create --name "$name" --type "$type"
  done
echo "Namespace $TEMPORAL_NAMESPACE is ready at $TEMPORAL_ADDRESS."
