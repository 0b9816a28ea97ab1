/**
 * Client tools: tools that the sender of a message runs itself while the agent answers it. They are
 * stored in the message's metadata, and offered as long as it is the newest message of a user.
 * - Models call a client tool by a prefixed name, so that none is taken for a tool of the project.
 */

import { isAnswerId } from '../message/answer-id.ts';
import type { Message, ToolResult } from '../message/message.ts';
import { measureJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import { isRecord } from '../value/record.ts';
import { mayBeObject } from '../value/schema-arguments.ts';
import { sha256OfAscii } from '../value/sha256.ts';
import { MAX_NAME_CHARS } from './mcp-tool.ts';

export interface ClientTool {
  /** The client's own name for the tool, without the prefix. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object; shown to models, and never run. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Key of the client tools in a message's metadata. */
export const CLIENT_TOOLS = 'clientTools';

const PREFIX = 'client__';
const NAME = /^[\w-]{1,64}$/;
const MAX_TOOLS = 128;
const MAX_BYTES = 256 * 1024;
const MAX_DESCRIPTION_CHARS = 4096;

const DIGEST_CHARS = 8;

/** The prefixed name that models are offered. One that would be too long ends with a digest instead. */
export function clientToolName(name: string): string {
  const called = PREFIX + name;
  if (called.length <= MAX_NAME_CHARS) return called;
  const digest = sha256OfAscii(name).slice(0, DIGEST_CHARS);
  return `${called.slice(0, MAX_NAME_CHARS - DIGEST_CHARS - 1)}_${digest}`;
}

/**
 * Returns the client's own name, or its short form (`nameOf` in server/api/conversation); undefined if `called` does not
 * name a client tool.
 */
export function parseClientToolName(called: string): string | undefined {
  return called.startsWith(PREFIX) ? called.slice(PREFIX.length) : undefined;
}

/** The capability that a call of the tool requires. */
export function clientCapability(name: string): string {
  return `client.${name}`;
}

/** Returns why the tools cannot be offered; undefined if they can. */
export function refuseClientTools(tools: readonly ClientTool[]): string | undefined {
  if (tools.length > MAX_TOOLS) return `at most ${MAX_TOOLS} tools are accepted, got ${tools.length}`;
  const names = tools.map(({ name }) => name);
  const bad = names.find((name) => !NAME.test(name));
  if (bad !== undefined)
    return `the name ${JSON.stringify(bad.slice(0, 80))} must be 1 to 64 letters, digits, _ and -`;
  const called = names.map(clientToolName);
  const twice = names.find((name, n) => called.indexOf(clientToolName(name)) !== n);
  if (twice !== undefined) return `"${twice}" is duplicated`;
  const shapeless = tools.find(({ parameters }) => !mayBeObject(parameters));
  if (shapeless) return `the parameters of "${shapeless.name}" must be the schema of an object`;
  const { bytes, depth } = measureJson(tools, { maxDepth: LIMITS.jsonDepth, maxBytes: MAX_BYTES });
  if (bytes > MAX_BYTES) return `the tools exceed ${MAX_BYTES} bytes in total`;
  return depth > LIMITS.jsonDepth ? `they are nested deeper than ${LIMITS.jsonDepth} levels` : undefined;
}

/** Returns the tools of the newest user message; undefined if there is none. `messages` is ordered oldest first. */
export function findClientTools(
  messages: readonly Pick<Message, 'id' | 'role' | 'metadata'>[],
): readonly ClientTool[] | undefined {
  const lastUserMessage = messages.findLast(({ id, role }) => role === 'user' && !isAnswerId(id));
  return lastUserMessage && readClientTools(lastUserMessage.metadata);
}

/** Empty if the stored tools are not in the valid form in which the APIs write them. */
function readClientTools(metadata: Readonly<Record<string, unknown>>): readonly ClientTool[] {
  const given = metadata[CLIENT_TOOLS];
  if (!Array.isArray(given)) return [];
  const tools = given.flatMap((tool): ClientTool[] => {
    if (!isRecord(tool) || typeof tool.name !== 'string') return [];
    const { name, description, parameters } = tool;
    return [
      {
        name,
        description: typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION_CHARS) : '',
        parameters: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
      },
    ];
  });
  return refuseClientTools(tools) === undefined ? tools : [];
}

export interface GivenResult {
  readonly text: string;
  readonly failed: boolean;
  /** Paths of files of the thread. */
  readonly attachments: readonly string[];
}

/** The value that answers the wait of a call. */
export function toResultValue({ text, failed, attachments }: GivenResult): unknown {
  if (attachments.length === 0) return failed ? { error: text } : text;
  return { [failed ? 'error' : 'content']: text, attachments };
}

/** Converts the value that has answered the wait of a call: from a client, or any JSON from a person. */
export function readResultValue(value: unknown): ToolResult {
  if (typeof value === 'string') return { status: 'success', result: value };
  const { error, content, attachments } = isRecord(value) ? value : {};
  const files = isPaths(attachments) ? { attachments } : {};
  if (typeof error === 'string') return { status: 'error', error, ...files };
  if (typeof content === 'string' && 'attachments' in files)
    return { status: 'success', result: content, ...files };
  return { status: 'success', result: JSON.stringify(value) };
}

function isPaths(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}
