/** What an adapter tells of its work while it works: it becomes a row of the task's log, and an event of its stream, as it is. */
import { isRecord } from '../value/record.ts';

export const EMISSION_TYPES = [
  'text_delta',
  'reasoning_delta',
  'tool_call',
  'tool_result',
  'llm_call',
  'artifact',
  'proposal_created',
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
    };

const NEEDED: Readonly<Record<TaskEmission['type'], readonly string[]>> = {
  text_delta: ['text'],
  reasoning_delta: ['text'],
  tool_call: ['toolName'],
  tool_result: ['toolName'],
  llm_call: ['model'],
  artifact: ['artifactId'],
  proposal_created: ['proposalId', 'title'],
};

/** What is wrong with it; undefined where it can be told. */
export function emissionProblem(given: unknown): string | undefined {
  if (!isRecord(given)) return 'it must be an object with a "type"';
  const type = EMISSION_TYPES.find((each) => each === given.type);
  if (!type) return `"type" must be one of ${EMISSION_TYPES.join(', ')}`;
  const lacks = NEEDED[type].find((field) => typeof given[field] !== 'string');
  return lacks === undefined ? undefined : `a ${type} needs "${lacks}", a text`;
}
