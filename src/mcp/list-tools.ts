/**
 * Lists the wanted tools of a server. Their descriptions are untrusted: they are bounded, stripped of invisible
 * characters, shown to models and people, and used for nothing else.
 */

import { createHash } from 'node:crypto';
import { canonicalJson } from '../core/value/canonical-json.ts';
import { measureJson } from '../core/value/json-measure.ts';
import { errorMessage } from '../core/value/thrown.ts';
import { quote, visible, visibleIn } from '../outbound/index.ts';
import type { AskTerms, McpConnection } from './connection.ts';
import { isAnswered, McpFailure } from './failure.ts';
import { MCP_LIMITS, SCHEMA_BOUND } from './limit.ts';

export interface ListedTool {
  /** Name of the tool at the server. */
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Annotations of the tool: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`. */
  readonly hints: Readonly<Record<string, boolean>>;
  /** SHA-256 of the fields above, in hex. */
  readonly digest: string;
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** Returns the tools of `wanted` that the server has. Rejects with an McpFailure. */
export async function listTools(
  connection: McpConnection,
  wanted: ReadonlySet<string>,
  terms: AskTerms,
): Promise<ListedTool[]> {
  const { tools } = await connection
    .ask((client, options) => client.listTools(undefined, options), terms)
    .catch((error: unknown) => {
      if (isAnswered(error))
        throw new McpFailure('McpInvalid', `It refused to list its tools: ${quote(errorMessage(error))}`);
      throw error;
    });
  const found = new Map<string, ListedTool>();
  for (const tool of tools) {
    if (!wanted.has(tool.name)) continue;
    if (found.has(tool.name)) throw new McpFailure('McpInvalid', `It lists ${quote(tool.name, 128)} twice.`);
    found.set(tool.name, toListed(tool));
  }
  return [...found.values()];
}

interface RawTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

function toListed({ name, description = '', inputSchema, annotations = {} }: RawTool): ListedTool {
  if (!measureJson(inputSchema, SCHEMA_BOUND).whole)
    throw new McpFailure('McpTooLarge', `The schema of ${quote(name, 128)} is too large, or too deep.`);
  const hints = Object.fromEntries(
    HINTS.flatMap((hint) => (typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]]] : [])),
  ) as ListedTool['hints'];
  const listed = {
    name,
    description: visible(description).slice(0, MCP_LIMITS.descriptionChars),
    parameters: visibleIn(inputSchema) as ListedTool['parameters'],
    hints,
  };
  return { ...listed, digest: createHash('sha256').update(canonicalJson(listed)).digest('hex') };
}
