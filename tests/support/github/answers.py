"""The API's JSON, in GitHub's shape: facts in, values out. A test holds it to the models of githubkit."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from .world import Commit, Release, Tag

Json = dict[str, Any]

_USER_URLS = [
    "followers",
    "following",
    "gists",
    "starred",
    "subscriptions",
    "organizations",
    "repos",
    "events",
    "received_events",
]
_REPOSITORY_URLS = [
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "git_commits",
    "git_refs",
    "git_tags",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "languages",
    "merges",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "stargazers",
    "statuses",
    "subscribers",
    "subscription",
    "tags",
    "teams",
    "trees",
    "hooks",
]
_COUNTS = ["forks", "stargazers", "watchers", "open_issues", "subscribers", "network"]
_SWITCHES = ["has_issues", "has_projects", "has_wiki", "has_pages", "has_discussions", "archived", "disabled"]
_LONG_AGO = "2016-08-13T05:26:41Z"


def number(text: str) -> int:
    """A stable id."""
    return int(hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:7], 16)


def user(login: str, api: str, web: str) -> Json:
    url = f"{api}/users/{login}"
    return {
        "login": login,
        "id": number(login),
        "node_id": "U_kg",
        "avatar_url": f"{web}/avatars/{login}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{web}/{login}",
        **{f"{name}_url": f"{url}/{name}" for name in _USER_URLS},
        "type": "Organization",
        "site_admin": False,
    }


def repository(name: str, private: bool, api: str, web: str) -> Json:
    owner, short = name.split("/")
    url = f"{api}/repos/{name}"
    return {
        "id": number(name),
        "node_id": "R_kg",
        "name": short,
        "full_name": name,
        "owner": user(owner, api, web),
        "private": private,
        "html_url": f"{web}/{name}",
        "description": None,
        "fork": False,
        "url": url,
        **{f"{kind}_url": f"{url}/{kind}" for kind in _REPOSITORY_URLS},
        "git_url": f"git://example.invalid/{name}.git",
        "ssh_url": f"git@example.invalid:{name}.git",
        "clone_url": f"{web}/{name}.git",
        "svn_url": f"{web}/{name}",
        "mirror_url": None,
        "homepage": None,
        "language": "Python",
        **{f"{kind}_count": 0 for kind in _COUNTS},
        "size": 1,
        "default_branch": "main",
        **dict.fromkeys(_SWITCHES, False),
        "pushed_at": _LONG_AGO,
        "created_at": _LONG_AGO,
        "updated_at": _LONG_AGO,
        "license": None,
        "forks": 0,
        "open_issues": 0,
        "watchers": 0,
    }


def release(name: str, row: Release, api: str, web: str) -> Json:
    made = number(f"{name} {row.tag}")
    url = f"{api}/repos/{name}/releases/{made}"
    moment = f"{row.published.isoformat()}T12:00:00Z"
    return {
        "url": url,
        "html_url": f"{web}/{name}/releases/tag/{row.tag}",
        "assets_url": f"{url}/assets",
        "upload_url": f"{url}/assets{{?name,label}}",
        "tarball_url": f"{api}/repos/{name}/tarball/{row.tag}",
        "zipball_url": f"{api}/repos/{name}/zipball/{row.tag}",
        "id": made,
        "node_id": "RE_kw",
        "tag_name": row.tag,
        "target_commitish": "main",
        "name": row.tag,
        "body": row.body,
        "draft": row.draft,
        "prerelease": row.prerelease,
        "created_at": moment,
        "published_at": None if row.draft else moment,
        "author": user(name.split("/", maxsplit=1)[0], api, web),
        "assets": [],
    }


def tag(name: str, row: Tag, api: str) -> Json:
    return {
        "name": row.name,
        "commit": {"sha": row.commit, "url": f"{api}/repos/{name}/commits/{row.commit}"},
        "zipball_url": f"{api}/repos/{name}/zipball/refs/tags/{row.name}",
        "tarball_url": f"{api}/repos/{name}/tarball/refs/tags/{row.name}",
        "node_id": "REF_kw",
    }


def tag_ref(name: str, row: Tag, api: str) -> Json:
    if row.tag_object:
        return ref(name, f"refs/tags/{row.name}", row.tag_object, "tag", api)
    return ref(name, f"refs/tags/{row.name}", row.commit, "commit", api)


def ref(name: str, full: str, sha: str, kind: str, api: str) -> Json:
    there = f"{api}/repos/{name}/git"
    return {
        "ref": full,
        "node_id": "REF_kw",
        "url": f"{there}/{full}",
        "object": {"sha": sha, "type": kind, "url": f"{there}/{kind}s/{sha}"},
    }


def tag_object(name: str, row: Tag, api: str) -> Json:
    there = f"{api}/repos/{name}/git"
    return {
        "node_id": "TA_kw",
        "tag": row.name,
        "sha": row.tag_object,
        "url": f"{there}/tags/{row.tag_object}",
        "message": row.name,
        "tagger": {"name": "A", "email": "a@example.invalid", "date": _LONG_AGO},
        "object": {"sha": row.commit, "type": "commit", "url": f"{there}/commits/{row.commit}"},
    }


def commit(name: str, sha: str, row: Commit, api: str, web: str) -> Json:
    url = f"{api}/repos/{name}/commits/{sha}"
    signed = {"name": "A", "email": "a@example.invalid", "date": f"{row.date.isoformat()}T12:00:00Z"}
    return {
        "url": url,
        "sha": sha,
        "node_id": "C_kw",
        "html_url": f"{web}/{name}/commit/{sha}",
        "comments_url": f"{url}/comments",
        "commit": {
            "url": f"{api}/repos/{name}/git/commits/{sha}",
            "author": signed,
            "committer": signed,
            "message": row.message,
            "comment_count": 0,
            "tree": {"sha": sha, "url": f"{api}/repos/{name}/git/trees/{sha}"},
        },
        "author": None,
        "committer": None,
        "parents": [],
    }


def content(name: str, sha: str, path: str, data: bytes, api: str, web: str) -> Json:
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    url = f"{api}/repos/{name}/contents/{path}?ref={sha}"
    git, html = f"{api}/repos/{name}/git/blobs/{blob}", f"{web}/{name}/blob/{sha}/{path}"
    return {
        "type": "file",
        "encoding": "base64",
        "size": len(data),
        "name": path.rsplit("/", maxsplit=1)[-1],
        "path": path,
        "content": base64.encodebytes(data).decode(),
        "sha": blob,
        "url": url,
        "git_url": git,
        "html_url": html,
        "download_url": f"{web}/raw/{name}/{sha}/{path}",
        "_links": {"self": url, "git": git, "html": html},
    }


def rate_limit(limit: int, remaining: int, reset: int) -> Json:
    core = {"limit": limit, "remaining": remaining, "reset": reset, "used": limit - remaining}
    return {"resources": {"core": core, "search": core}, "rate": core}


def message(text: str) -> Json:
    return {"message": text, "documentation_url": "https://docs.github.com/rest"}
