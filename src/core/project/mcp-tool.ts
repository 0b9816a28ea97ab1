/**
 * Names of the tools of MCP servers. An author writes `mcp:<server>/<tool>`; models, calls, rules and logs use a name
 * that every provider accepts.
 */
import type { McpToolRef } from '../author/mcp-server.ts';
import { sha256OfAscii } from '../value/sha256.ts';

export const MCP_PREFIX = 'mcp:';

/** Server: its file's name. Tool, as MCP advises: letters, digits, `_`, `-`, dots between; at most 128 characters. */
const NAME_PATTERN = /^mcp:([A-Za-z0-9_-]{1,32})\/((?=.{1,128}$)[\w-]+(?:\.[\w-]+)*)$/;

/** Undefined if `name` is invalid or of another kind. */
export function parseMcpName(name: string): McpToolRef | undefined {
  const [, server, tool] = NAME_PATTERN.exec(name) ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
}

/** The most characters of a tool name that every provider accepts. */
export const MAX_NAME_CHARS = 64;

/** Tool names that every provider accepts. */
export const PROVIDER_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The tool name that models are offered; a changed name ends with a digest, so that two names never become one. */
export function mcpToolName({ server, tool }: McpToolRef): string {
  return toProviderName(`mcp__${server}__${tool}`);
}

/** Returns a tool name that every provider accepts; a changed name ends with a digest of the original. */
export function toProviderName(plain: string): string {
  const safe = plain.replace(/[^A-Za-z0-9_-]/g, '_');
  if (safe === plain && plain.length <= MAX_NAME_CHARS) return plain;
  return `${safe.slice(0, MAX_NAME_CHARS - 9)}_${sha256OfAscii(plain).slice(0, 8)}`;
}

/** Converts a name as its author wrote it to the name that models are offered. */
export function toCallName(written: string): string {
  const ref = parseMcpName(written);
  return ref ? mcpToolName(ref) : written;
}

/** The capability that a call of the tool requires. */
export function mcpCapability({ server, tool }: McpToolRef): string {
  return `mcp.${server}.${tool}`;
}
