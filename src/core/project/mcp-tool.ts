/**
 * Names of the tools of MCP servers. An author writes `mcp:<server>/<tool>`; models are offered a name that every provider takes, and
 * calls, rules and logs have that one.
 */
import type { McpToolRef } from '../author/mcp-server.ts';
import { sha256OfAscii } from '../value/sha256.ts';

export const MCP_PREFIX = 'mcp:';

/** A server as its file, a tool as the protocol advises: letters, digits, `_`, `-` and dots between them, 128 characters at most. */
const WRITTEN = /^mcp:([A-Za-z0-9_-]{1,32})\/((?=.{1,128}$)[\w-]+(?:\.[\w-]+)*)$/;

/** Undefined for a name of another kind, and for none. */
export function parseMcpName(name: string): McpToolRef | undefined {
  const [, server, tool] = WRITTEN.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
}

/** What providers take as the name of a tool. */
const LONGEST = 64;

/** The name that models call it by. What had to be changed for it ends with a digest, so that two names never become one. */
export function mcpToolName({ server, tool }: McpToolRef): string {
  return toProviderName(`mcp__${server}__${tool}`);
}

/** What every provider takes as the name of a tool; a name that had to be changed ends with a digest of what it was. */
export function toProviderName(plain: string): string {
  const safe = plain.replace(/[^A-Za-z0-9_-]/g, '_');
  if (safe === plain && plain.length <= LONGEST) return plain;
  return `${safe.slice(0, LONGEST - 9)}_${sha256OfAscii(plain).slice(0, 8)}`;
}

/** A name as its author wrote it, as models call it. */
export function toCallName(written: string): string {
  const ref = parseMcpName(written);
  return ref ? mcpToolName(ref) : written;
}

/** What a call of it needs to be allowed. */
export function mcpCapability({ server, tool }: McpToolRef): string {
  return `mcp.${server}.${tool}`;
}
