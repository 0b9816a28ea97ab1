/**
 * Tools of clients: what the sender of a message offers to run itself, while the agent answers it (docs/openai.md). They stand in the message's metadata, and
 * are offered as long as that message is the newest of its users.
 * K1. Models call one by a name of its own kind, so that none is taken for a tool of the project.
 */

import { isAnswerId } from '../message/answer-id.ts';
import type { Message } from '../message/message.ts';
import { measureJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';

export interface ClientTool {
  /** The client's own. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object; shown to models, and never run. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Of a message's metadata. */
export const CLIENT_TOOLS = 'clientTools';

const PREFIX = 'client__';
/** With the prefix it is no longer than providers take. */
const NAME = /^[\w-]{1,56}$/;
const MOST = 64;
const MOST_BYTES = 64 * 1024;
const MOST_DESCRIPTION = 4096;

/** K1: the name that models call it by. */
export function clientToolName(name: string): string {
  return PREFIX + name;
}

/** The client's own name; undefined where it is no tool of a client. */
export function parseClientToolName(called: string): string | undefined {
  return called.startsWith(PREFIX) ? called.slice(PREFIX.length) : undefined;
}

/** What a call of it needs to be allowed. */
export function clientCapability(name: string): string {
  return `client.${name}`;
}

/** Why they cannot be offered; undefined where they can. */
export function refuseClientTools(tools: readonly ClientTool[]): string | undefined {
  if (tools.length > MOST) return `at most ${MOST} tools are taken, not ${tools.length}`;
  const names = tools.map(({ name }) => name);
  const bad = names.find((name) => !NAME.test(name));
  if (bad !== undefined)
    return `the name ${JSON.stringify(bad.slice(0, 80))} is to be 1 to 56 letters, digits, _ and -`;
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) return `"${twice}" is there twice`;
  const { bytes, depth } = measureJson(tools, { maxDepth: LIMITS.jsonDepth, maxBytes: MOST_BYTES });
  if (bytes > MOST_BYTES) return `together they take more than ${MOST_BYTES} bytes`;
  return depth > LIMITS.jsonDepth ? `they are nested deeper than ${LIMITS.jsonDepth} levels` : undefined;
}

/** Of the newest message of a user, oldest first; undefined where there is none among them. */
export function findClientTools(
  messages: readonly Pick<Message, 'id' | 'role' | 'metadata'>[],
): readonly ClientTool[] | undefined {
  const said = messages.findLast(({ id, role }) => role === 'user' && !isAnswerId(id));
  return said && readClientTools(said.metadata);
}

/** None where they are not as a door writes them. */
function readClientTools(metadata: Readonly<Record<string, unknown>>): readonly ClientTool[] {
  const given = metadata[CLIENT_TOOLS];
  if (!Array.isArray(given)) return [];
  const tools = given.flatMap((tool): ClientTool[] => {
    if (!isRecord(tool) || typeof tool.name !== 'string') return [];
    const { name, description, parameters } = tool;
    return [
      {
        name,
        description: typeof description === 'string' ? description.slice(0, MOST_DESCRIPTION) : '',
        parameters: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
      },
    ];
  });
  return refuseClientTools(tools) === undefined ? tools : [];
}
