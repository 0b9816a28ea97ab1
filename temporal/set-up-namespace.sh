#!/bin/sh
# Creates the namespace and our search attributes in a running Temporal service. Idempotent.
# Takes TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE (and whatever else the temporal CLI reads, such as TEMPORAL_API_KEY);
# RETENTION says how long closed workflows are kept. Needs the temporal CLI.
set -eu

: "${TEMPORAL_ADDRESS:=127.0.0.1:7233}" "${TEMPORAL_NAMESPACE:=default}" "${RETENTION:=720h}"
export TEMPORAL_ADDRESS TEMPORAL_NAMESPACE
folder=$(cd "$(dirname "$0")" && pwd)

attempt=0
until temporal operator cluster health >/dev/null 2>&1; do
  attempt=$((attempt + 1))
  if [ "$attempt" -ge 60 ]; then
    echo "No Temporal service answers at $TEMPORAL_ADDRESS." >&2
    exit 1
  fi
  sleep 1
done

if ! temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
fi

# A new namespace is known to every part of the service after a few seconds, so registering may have to be tried again.
register() {
  attempt=0
  until temporal operator search-attribute create --name "$1" --type "$2"; do
    attempt=$((attempt + 1))
    [ "$attempt" -lt 20 ] || exit 1
    sleep 1
  done
}

existing=$(temporal operator search-attribute list 2>/dev/null || true)
sed -n 's/^ *"\([A-Za-z]*\)": "\([A-Za-z]*\)".*/\1 \2/p' "$folder/search-attributes.json" |
  while read -r name type; do
    echo "$existing" | grep -qw "$name" || register "$name" "$type"
  done
echo "Namespace $TEMPORAL_NAMESPACE is ready at $TEMPORAL_ADDRESS."
