# common.sh: logs in with the clouds.yaml of a running `stowage serve` and gives the walk-throughs their few words:
#
#   api METHOD PATH [JSON]   one call of the API; shows it, and the answer's status and body; ends the script above 399
#   refused STATUS METHOD PATH [JSON]   one that must be answered with this status
#   field PATH               a member of the last answer's body, like volume.id or attachments.0.status
#   eventually WANT PATH FIELD   asks again until the field has the value; ends the script after half a minute
#
# `block`, `share` or `admin` says which API is meant.
#
# OS_CLIENT_CONFIG_FILE says where clouds.yaml is (default: where `stowage serve` writes it), STOWAGE_ADMIN_URL where the admin
# API is (default: http://127.0.0.1:8790).
# Needs curl and python3. Leaves nothing behind but what a script that fails has not deleted yet.
set -euo pipefail
clouds=${OS_CLIENT_CONFIG_FILE:-${XDG_STATE_HOME:-$HOME/.local/state}/stowage/clouds.yaml}
[ -r "$clouds" ] || { echo "no $clouds: start \`stowage serve\`, or set OS_CLIENT_CONFIG_FILE" >&2; exit 1; }
said() { sed -n "s/^ *$1: *//p" "$clouds" | head -n 1 | tr -d "\"'"; }
answer=$(mktemp) headers=$(mktemp)
trap 'rm -f "$answer" "$headers"' EXIT
version=${version:-3.71}

# the password travels through a pipe, so that no other process sees it
login() {
  python3 - "$(said username)" "$(said user_domain_name)" "$(said project_name)" "$(said project_domain_name)" <<E | curl -sS --noproxy '*' -o "$answer" -D "$headers" -H 'Content-Type: application/json' --data @- "$(said auth_url)/auth/tokens"
import json, sys
user, user_domain, project, project_domain = (a or "Default" for a in sys.argv[1:])
secret = """$(said password)"""
print(json.dumps({"auth": {"identity": {"methods": ["password"], "password": {"user": {
    "name": user, "domain": {"name": user_domain}, "password": secret}}},
    "scope": {"project": {"name": project, "domain": {"name": project_domain}}}}}))
E
  token=$(sed -n 's/^[Xx]-[Ss]ubject-[Tt]oken: *//p' "$headers" | tr -d '\r')
  [ -n "$token" ] || { echo "no token: $(cat "$answer")" >&2; exit 1; }
  project_id=$(field token.project.id)
}

field() {
  python3 -c '
import json, sys
value = json.load(open(sys.argv[1]))
for name in sys.argv[2].split("."):
    value = value[int(name)] if isinstance(value, list) else value[name]
print(value if isinstance(value, str) else json.dumps(value))' "$answer" "$1"
}

# the URL of a service in the catalog
endpoint() { # TYPE
  python3 -c '
import json, sys
for service in json.load(open(sys.argv[1]))["token"]["catalog"]:
    if service["type"] == sys.argv[2]:
        print(next(e["url"] for e in service["endpoints"] if e["interface"] == "public"))' "$answer" "$1"
}

call() { # METHOD PATH [JSON] -> status
  local body=(); [ $# -lt 3 ] || body=(-H 'Content-Type: application/json' -d "$3")
  curl -sS --noproxy '*' -o "$answer" -w '%{http_code}' -X "$1" -H "X-Auth-Token: $token" ${version_header[@]+"${version_header[@]}"} ${body[@]+"${body[@]}"} "$base$2"
}
show() { printf '\n$ %s %s %s\n%s %s\n' "$1" "$2" "${3:-}" "$status" "$(head -c 1200 "$answer")"; }
api() { status=$(call "$@"); show "$@"; [ "$status" -lt 400 ]; }
refused() { local want=$1; shift; status=$(call "$@"); show "$@"; [ "$status" = "$want" ]; }
eventually() { # WANT PATH FIELD
  local n found=
  for n in $(seq 150); do
    status=$(call GET "$2")
    [ "$status" = "$1" ] && { printf '\n$ GET %s\n%s\n' "$2" "$status"; return; }
    found=$([ "$status" = 200 ] && field "$3" || true)
    [ "$found" = "$1" ] && { printf '\n$ GET %s\n%s: %s\n' "$2" "$3" "$found"; return; }
    sleep 0.2
  done
  echo "$2: $3 is $found (status $status), not $1" >&2; return 1
}
say() { printf '\n# %s\n' "$*"; }
is() { [ "$(field "$1")" = "$2" ] || { echo "$1 is $(field "$1"), not $2" >&2; return 1; }; }

login
block() { base=$(login_catalog block-storage); version_header=(-H "OpenStack-API-Version: volume $version"); }
share() { base=$(login_catalog shared-file-system); version_header=(-H "X-OpenStack-Manila-API-Version: $version"); }
admin() { base=${STOWAGE_ADMIN_URL:-http://127.0.0.1:8790}/stowage/v1; version_header=(); }
catalog=$(mktemp); cp "$answer" "$catalog"; trap 'rm -f "$answer" "$headers" "$catalog"' EXIT
login_catalog() { answer=$catalog endpoint "$1"; }
