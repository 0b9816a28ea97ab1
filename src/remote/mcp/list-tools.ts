/**
 * Lists the wanted tools of a server. Their descriptions are untrusted: they are bounded, stripped of invisible
 * characters, shown to models and people, and used for nothing else.
 */

import { hash } from 'node:crypto';
import { toAcceptedSchema } from '../../core/value/accepted-schema.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { quote, visible, visibleIn } from '../wall/index.ts';
import type { AskTerms, McpConnection } from './connection.ts';
import { isAnswered, McpFailure } from './failure.ts';
import { MCP_LIMITS } from './limit.ts';
import { type LeftTool, NO_OBJECT, TWICE } from './tool-list.ts';

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

export interface ListedTools {
  readonly tools: readonly ListedTool[];
  /** Tools of `wanted` that cannot be offered. */
  readonly left: readonly LeftTool[];
}

/** Returns the tools of `wanted` that the server has: a malformed one costs only itself. Rejects with an McpFailure. */
export async function listTools(
  connection: McpConnection,
  wanted: ReadonlySet<string>,
  terms: AskTerms,
): Promise<ListedTools> {
  const { tools } = await connection
    .ask((client, options) => client.listTools(undefined, options), terms)
    .catch((error: unknown) => {
      if (isAnswered(error))
        throw new McpFailure('McpInvalid', `It refused to list its tools: ${quote(errorMessage(error))}`);
      throw error;
    });
  const found = new Map<string, ListedTool>();
  const left = connection.listed.left.filter(({ tool }) => wanted.has(tool));
  for (const tool of tools) {
    const { name } = tool;
    if (!wanted.has(name)) continue;
    // On another page.
    if (found.has(name)) left.push({ tool: name, why: TWICE });
    else if (!toAcceptedSchema(tool.inputSchema)) left.push({ tool: name, why: NO_OBJECT });
    found.set(name, toListed(tool));
  }
  const isLeft = ({ name }: ListedTool) => left.some(({ tool }) => tool === name);
  return { tools: [...found.values()].filter((tool) => !isLeft(tool)), left };
}

interface RawTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

function toListed({ name, description = '', inputSchema, annotations = {} }: RawTool): ListedTool {
  const hints = Object.fromEntries(
    HINTS.flatMap((hint) => (typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]]] : [])),
  ) as ListedTool['hints'];
  const listed = {
    name,
    description: visible(description).slice(0, MCP_LIMITS.descriptionChars),
    parameters: visibleIn(inputSchema) as ListedTool['parameters'],
    hints,
  };
  return { ...listed, digest: hash('sha256', canonicalJson(listed)) };
}
