"""A stand-in for the network and the image service: they have nothing, and say so.

The suite removes the security groups of every project it made, and asks for an image client in classes whose tests never
use one. Without the two services it would skip those classes.
"""
import http.server
import json
import threading


class Empty(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/v2/images/"):
            return self.send_error(404)
        name = self.path.split("?")[0].rstrip("/").rsplit("/", 1)[-1].replace("-", "_")
        body = json.dumps({name: []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve():
    """Listens on a free port; returns its URL. It ends with the process."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
