/**
 * Reads a client's conversation, for every door: what a new thread begins with, the results of calls that the client was
 * asked for, and the new message.
 * - What stands behind the assistant's last message is new: all results, and the message of the user at the end.
 *   Messages of other roles are ignored, wherever they stand.
 * - Nothing of an earlier message vanishes: calls stay calls, results stay results, files are attached, and what a
 *   thread cannot keep is named in the text.
 */
import { hash } from 'node:crypto';
import type { OutgoingMessage, StartMessage } from '../../../client/outgoing.ts';
import type { OutgoingAttachment } from '../../../client/outgoing-file.ts';
import { CLIENT_TOOLS, type ClientTool, clientToolName } from '../../../core/project/client-tool.ts';
import { isItemId } from '../../../core/thread/item.ts';
import { LIMITS } from '../../../core/value/limit.ts';
import { ownNames } from './client-tools.ts';
import type { GivenCall, GivenMessage } from './given-message.ts';
import { type ReadParts, readEarlierParts, readParts } from './message-parts.ts';
import type { CopyFiles } from './own-files.ts';

/** A result that a client returns for a call of its own tools (core/project/client-tool.ts). */
export interface ClientResult {
  readonly text: string;
  /** True if the client could not run its tool. */
  readonly failed: boolean;
  readonly files: readonly OutgoingAttachment[];
}

export type ClientResults = ReadonlyMap<string, ClientResult>;

export interface Conversation {
  /** The user's new message, with the client's tools; null if there is none. */
  readonly message: OutgoingMessage | null;
  /** New results, by call id. */
  readonly results: ClientResults;
  /** Who has the last word; null in an empty conversation. */
  readonly last: 'user' | 'assistant' | 'tool' | null;
  /** Returns the client's own name of a tool, as it is told of a call. */
  readonly nameOf: (told: string) => string;
  /** What a new thread begins with before the message. */
  readonly before: () => Promise<readonly StartMessage[]>;
}

export interface ConversationTerms {
  readonly tools?: readonly ClientTool[];
  /** The thread of the conversation, whose files may be named by their addresses. */
  readonly threadId?: string | undefined;
  /** Copies files of other threads into messages that are taken. */
  readonly copy?: CopyFiles;
}

/** Throws `InvalidRequest` for a part of the new message, or of a new result, that cannot be taken. */
export async function readConversation(
  given: readonly GivenMessage[],
  { tools = [], threadId, copy = async (messages) => messages }: ConversationTerms = {},
): Promise<Conversation> {
  const messages = given.filter(isSpoken);
  const fresh = await copy(messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1));
  // The end, whatever ignored messages stand behind it.
  const end = fresh.at(-1);
  const user = end?.role === 'user' ? end : undefined;
  return {
    message: user ? { ...readMessage(user, threadId), ...metadataOf(tools) } : null,
    results: readResults(fresh, threadId),
    last: messages.at(-1)?.role ?? null,
    nameOf: ownNames(tools),
    before: async () => readEarlier(await copy(user ? messages.slice(0, -1) : messages), tools),
  };
}

/** Reads a message that is to be sent. Throws `InvalidRequest`. */
export function readMessage({ id, parts }: GivenMessage, threadId?: string): OutgoingMessage {
  return { ...(id === undefined ? {} : { id }), ...contentOf(readParts(parts, threadId)) };
}

/** Returns the id if an item may have it, else one that is derived from it: always the same for the same id. */
export function toItemId(id: string, prefix: string): string {
  return isItemId(id) ? id : `${prefix}-${digest(id)}`;
}

type SpokenMessage = GivenMessage & { readonly role: 'user' | 'assistant' | 'tool' };

function isSpoken(message: GivenMessage): message is SpokenMessage {
  return ['user', 'assistant', 'tool'].includes(message.role);
}

function contentOf({ content, attachments }: ReadParts) {
  return { content, ...(attachments.length > 0 ? { attachments } : {}) };
}

function metadataOf(tools: readonly ClientTool[]): Pick<OutgoingMessage, 'metadata'> {
  return tools.length > 0 ? { metadata: { [CLIENT_TOOLS]: tools } } : {};
}

/** The first result of a call counts. */
function readResults(fresh: readonly SpokenMessage[], threadId: string | undefined): ClientResults {
  const results = new Map<string, ClientResult>();
  for (const { role, callId, parts, failed = false } of fresh) {
    if (role !== 'tool' || !callId || results.has(callId)) continue;
    const { content, attachments } = readParts(parts, threadId);
    results.set(callId, { text: content, failed, files: attachments });
  }
  return results;
}

/** The newest messages, up to the limit of a start, and the newest files, up to theirs. */
function readEarlier(
  messages: readonly SpokenMessage[],
  tools: readonly ClientTool[],
): readonly StartMessage[] {
  const said = messages.filter(({ role, parts, calls = [] }) => {
    const isEmpty = parts.every((part) => part.kind === 'text' && part.text === '') && calls.length === 0;
    return role === 'tool' || !isEmpty;
  });
  const most = LIMITS.startMessages - 1;
  const kept = said.length > most ? said.slice(1 - most) : said;
  const lost = said.length - kept.length;
  const note = lost > 0 ? [{ content: `[${lost} earlier messages, not kept]` }] : [];
  const admitted = admitNewest(kept);
  const offered = new Set(tools.map(({ name }) => name));
  const names = new Map<string, string>();
  const earlier = kept.map((message, n): StartMessage => {
    const { id, role, callId, failed } = message;
    const own = { ...(id === undefined ? {} : { id }), ...contentOf(admitted[n] as ReadParts) };
    if (role === 'user') return { ...own, role };
    if (role === 'tool') return toResult(own, { name: names.get(callId ?? ''), callId, failed });
    const toolCalls = (message.calls ?? []).map((call) => toCall(call, offered));
    for (const [at, call] of (message.calls ?? []).entries()) names.set(call.id, toolCalls[at]?.name ?? '');
    return { ...own, role, ...(toolCalls.length > 0 ? { toolCalls } : {}) };
  });
  return [...note, ...earlier];
}

/** Reads the parts of each message; the files of the newest are admitted first. */
function admitNewest(messages: readonly SpokenMessage[]): readonly ReadParts[] {
  let room: number = LIMITS.earlierFileBytes;
  return messages
    .toReversed()
    .map(({ parts }) => {
      let places: number = LIMITS.attachments;
      return readEarlierParts(parts, (bytes) => {
        if (places === 0 || bytes > room) return false;
        places -= 1;
        room -= bytes;
        return true;
      });
    })
    .toReversed();
}

interface EarlierResult {
  /** Name of the tool; absent if the call is not in the conversation. */
  readonly name: string | undefined;
  readonly callId: string | undefined;
  readonly failed: boolean | undefined;
}

/** A model would not see a result without its call: such a result is a message. */
function toResult(own: StartMessage, { name, callId, failed }: EarlierResult): StartMessage {
  if (name === undefined || callId === undefined)
    return { ...own, role: 'user', content: `[result of an earlier call] ${own.content}` };
  const outcome = failed ? { failed, content: `Failed to execute tool: ${own.content}` } : {};
  return { ...own, role: 'tool', toolCallId: toCallId(callId), toolName: name, ...outcome };
}

function toCall({ id, name, arguments: given }: GivenCall, offered: ReadonlySet<string>) {
  const called = offered.has(name) ? clientToolName(name) : name.replaceAll(/[^\w-]/g, '_').slice(0, 64);
  return { id: toCallId(id), name: called || 'tool', arguments: given };
}

/** Ids that another provider or server has made: not every provider accepts all of them. */
export function toCallId(id: string): string {
  return /^[\w-]{1,40}$/.test(id) ? id : `call_${digest(id).slice(0, 32)}`;
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 40);
}
