/** Parses the answers of an agent as untrusted input: bounded, and rejected if they do not belong to the request. */
import type { Message, Part, SendMessageResult, StreamResponse, Task } from '@a2a-js/sdk';
import { measureJson } from '../../core/value/json-measure.ts';
import { visible } from '../wall/index.ts';
import { A2aFailure } from './failure.ts';
import { A2A_LIMITS } from './limit.ts';

/** States of a task, indexed by their numbers in the protocol's enumeration. */
const REMOTE_STATES = [
  'unspecified',
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'input-required',
  'rejected',
  'auth-required',
] as const;

export type RemoteState = (typeof REMOTE_STATES)[number];

export type RemotePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: unknown }
  /** Base64. */
  | { readonly kind: 'raw'; readonly data: string; readonly mediaType: string; readonly filename: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType: string; readonly filename: string };

export interface RemoteTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: RemoteState;
  /** Id of the status message; empty if there is none. */
  readonly messageId: string;
  readonly said: readonly RemotePart[];
  readonly artifacts: readonly (readonly RemotePart[])[];
  /** Ids of the messages in the task's history. */
  readonly heard: ReadonlySet<string>;
}

export type RemoteReply =
  | { readonly kind: 'task'; readonly task: RemoteTask }
  | { readonly kind: 'message'; readonly said: readonly RemotePart[] };

export interface TaskRef {
  readonly contextId: string;
  /** Absent if it is not known yet. */
  readonly taskId?: string | undefined;
}

/** Throws an A2aFailure. */
export function toRemoteReply(result: SendMessageResult, place: TaskRef): RemoteReply {
  if ('status' in result || 'artifacts' in result)
    return { kind: 'task', task: toTask(result as Task, place) };
  const { parts, contextId } = result as Message;
  if (!Array.isArray(parts)) throw invalid('Its answer is neither a task nor a message.');
  if (contextId && contextId !== place.contextId) throw toMismatch('context', contextId);
  return { kind: 'message', said: toParts(parts) };
}

/** Throws an A2aFailure, also if the task or its context is not the expected one. */
export function toTask(task: Task, place: TaskRef): RemoteTask {
  const { id, contextId, status, artifacts = [], history = [] } = task;
  if (typeof id !== 'string' || id === '' || id.length > A2A_LIMITS.idChars)
    throw invalid('Its task has no valid id.');
  if (place.taskId !== undefined && id !== place.taskId) throw toMismatch('task', id);
  if (contextId !== place.contextId) throw toMismatch('context', contextId);
  const state = REMOTE_STATES[(status?.state ?? 0) as number];
  if (state === undefined || state === 'unspecified') throw invalid('Its task has an unknown state.');
  if (artifacts.reduce((sum, { parts }) => sum + parts.length, 0) > A2A_LIMITS.parts)
    throw new A2aFailure('A2aTooLarge', `Its task has more than ${A2A_LIMITS.parts} parts.`);
  return {
    id,
    contextId,
    state,
    messageId: status?.message?.messageId ?? '',
    said: toParts(status?.message?.parts ?? []),
    artifacts: artifacts.map(({ parts }) => toParts(parts)),
    heard: new Set(history.map(({ messageId }) => messageId)),
  };
}

/** True if a frame of a stream ends the waiting: it is a message, or its task no longer works. */
export function endsWaiting({ payload }: StreamResponse): boolean {
  if (payload?.$case === 'message') return true;
  if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') return false;
  return !isOpen(REMOTE_STATES[(payload.value.status?.state ?? 0) as number] ?? 'unspecified');
}

/** True if the task works or is about to; an unspecified state counts as working. */
export function isOpen(state: RemoteState): boolean {
  return state === 'submitted' || state === 'working' || state === 'unspecified';
}

export function isTerminal(state: RemoteState): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected';
}

export function textOf(parts: readonly RemotePart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

function toParts(parts: readonly Part[]): RemotePart[] {
  return parts.flatMap(({ content, mediaType = '', filename = '' }): RemotePart[] => {
    switch (content?.$case) {
      case 'text':
        return [{ kind: 'text', text: visible(content.value) }];
      case 'url':
        return [{ kind: 'url', url: content.value, mediaType, filename }];
      case 'raw':
        return [{ kind: 'raw', data: Buffer.from(content.value).toString('base64'), mediaType, filename }];
      case 'data':
        return [{ kind: 'data', data: requireBounded(content.value) }];
      default:
        return [];
    }
  });
}

const DATA_BOUNDS = { maxBytes: A2A_LIMITS.requestBytes, maxDepth: A2A_LIMITS.dataDepth };

function requireBounded(data: unknown): unknown {
  if (!measureJson(data, DATA_BOUNDS).whole)
    throw new A2aFailure(
      'A2aTooLarge',
      `It sent data that is too large or nested deeper than ${A2A_LIMITS.dataDepth} levels.`,
    );
  return data;
}

function invalid(message: string): A2aFailure {
  return new A2aFailure('A2aInvalid', message);
}

function toMismatch(what: 'task' | 'context', id: unknown): A2aFailure {
  return invalid(
    `It answered with a different ${what} than the requested one: ${visible(String(id)).slice(0, 100)}.`,
  );
}
