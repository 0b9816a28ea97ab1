/**
 * Events that an adapter emits while it works; each is a row of the task's log and an event of its stream, unchanged.
 */
import { isRecord } from '../value/record.ts';
import type { TaskSession } from './session.ts';

export const EMISSION_TYPES = [
  'text_delta',
  'reasoning_delta',
  'tool_call',
  'tool_result',
  'llm_call',
  'artifact',
  'proposal_created',
  'text_discarded',
  'model_fallback',
  'session_created',
  'session_resumed',
  'backend_start',
  'backend_end',
  'backend_error',
] as const;

export type TaskEmission =
  | { readonly type: 'text_delta' | 'reasoning_delta'; readonly text: string }
  | {
      readonly type: 'tool_call';
      readonly toolName: string;
      readonly toolCallId?: string;
      readonly args?: unknown;
    }
  | {
      readonly type: 'tool_result';
      readonly toolName: string;
      readonly toolCallId?: string;
      readonly result?: unknown;
    }
  | {
      /** A request to a model, once it has ended. */
      readonly type: 'llm_call';
      readonly model: string;
      readonly tokensIn?: number;
      readonly tokensOut?: number;
      readonly costUsd?: number;
      readonly latencyMs?: number;
      readonly finishReason?: string;
    }
  | {
      readonly type: 'artifact';
      readonly artifactId: string;
      readonly name?: string;
      readonly mimeType?: string;
      readonly uri?: string;
      readonly content?: unknown;
      readonly metadata?: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'proposal_created';
      readonly proposalId: string;
      readonly title: string;
      readonly status?: 'pending' | 'approved' | 'rejected';
      readonly content?: unknown;
    }
  /** The text that was streamed so far is void and is sent again. */
  | { readonly type: 'text_discarded'; readonly reason: string }
  /** A model has failed temporarily, and the next one in the list is asked. */
  | {
      readonly type: 'model_fallback';
      readonly fromModel: string;
      readonly toModel: string;
      readonly reason: string;
    }
  | { readonly type: 'session_created' | 'session_resumed'; readonly session: TaskSession }
  /** `backend`: the kind of the backend. */
  | { readonly type: 'backend_start' | 'backend_end'; readonly backend: string; readonly sessionId: string }
  | {
      readonly type: 'backend_error';
      readonly backend: string;
      readonly message: string;
      /** False if the backend was aborted. */
      readonly recoverable: boolean;
      readonly error?: BackendErrorDetail;
    };

/** Why a backend has failed. `status` is 0 if there was no response; `body`: the first 2 KiB of the response. */
export interface BackendErrorDetail {
  readonly kind: 'transport' | 'backend';
  readonly message: string;
  readonly status?: number;
  readonly body?: string;
}

const REQUIRED_FIELDS: Readonly<Record<TaskEmission['type'], readonly string[]>> = {
  text_delta: ['text'],
  reasoning_delta: ['text'],
  tool_call: ['toolName'],
  tool_result: ['toolName'],
  llm_call: ['model'],
  artifact: ['artifactId'],
  proposal_created: ['proposalId', 'title'],
  text_discarded: ['reason'],
  model_fallback: ['fromModel', 'toModel', 'reason'],
  session_created: [],
  session_resumed: [],
  backend_start: ['backend'],
  backend_end: ['backend'],
  backend_error: ['backend', 'message'],
};

/** Returns what is wrong with an emission; undefined if it is valid. */
export function emissionProblem(given: unknown): string | undefined {
  if (!isRecord(given)) return 'it must be an object with a "type"';
  const type = EMISSION_TYPES.find((each) => each === given.type);
  if (!type) return `"type" must be one of ${EMISSION_TYPES.join(', ')}`;
  const lacks = REQUIRED_FIELDS[type].find((field) => typeof given[field] !== 'string');
  if (lacks !== undefined) return `a ${type} needs a string "${lacks}"`;
  const isSession = type === 'session_created' || type === 'session_resumed';
  return isSession && !isRecord(given.session) ? `a ${type} needs a "session"` : undefined;
}
