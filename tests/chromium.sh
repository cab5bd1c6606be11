#!/bin/sh
# The browser tests use Debian's Chromium, best without its windows: install it where that is possible, and say so where
# it isn't.
if command -v chromium-headless-shell >/dev/null 2>&1 || [ -n "$CHROMIUM" ]; then exit 0; fi
install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1"; }
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "Installing Chromium for the browser tests."
    { apt-get update && install chromium-headless-shell; } >/dev/null && exit 0
    command -v chromium >/dev/null 2>&1 || install chromium >/dev/null
fi
if command -v chromium >/dev/null 2>&1; then exit 0; fi
echo "THE BROWSER TESTS WILL BE SKIPPED: there is no Chromium here and it can't be installed by this user."
echo "Install Debian's package chromium-headless-shell, or set CHROMIUM to a Chromium's path."
