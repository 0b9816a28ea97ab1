/**
 * An executor's event log: the RuntimeEvents of a task under AgenticX's names. It is JSON, and always reads the same.
 */

import { sumUsd } from '../../core/value/money.ts';
import type { RuntimeEvent } from '../../projections/agenticx/agenticx-event.ts';
import type { Fields } from './runtime-tool.ts';

export const FINISH_TOOL_NAME = 'finish_task';
export const HUMAN_TOOL_NAME = 'human_request';

/** An event in the log of a task. JSON, with AgenticX's names. */
export type ExecutorEvent =
  | { readonly type: 'task_start'; readonly task_id: string; readonly agent_id: string }
  | { readonly type: 'llm_call'; readonly iteration: number }
  | {
      readonly type: 'tool_call';
      readonly tool: string;
      readonly arguments: Fields;
      readonly tool_call_id: string;
    }
  | {
      readonly type: 'tool_result';
      readonly tool_call_id: string;
      readonly success: boolean;
      readonly result?: string;
      readonly error?: string;
    }
  | { readonly type: 'human_request'; readonly request_id: string; readonly question: string }
  | { readonly type: 'human_response'; readonly request_id: string }
  | { readonly type: 'compacted'; readonly summary: string; readonly compacted_count: number }
  | {
      readonly type: 'error';
      readonly error_type: string;
      readonly message: string;
      readonly recoverable: boolean;
    }
  | { readonly type: 'finish_task'; readonly final_result: string; readonly reasoning: string | null }
  | { readonly type: 'task_end'; readonly success: boolean };

/** Returns what one event adds to the log. */
export function toLogged({ type, data }: RuntimeEvent): readonly ExecutorEvent[] {
  switch (type) {
    case 'round_start':
      return [{ type: 'llm_call', iteration: data.round }];
    case 'tool_call':
      return toCall(data.name, data.arguments, data.tool_call_id);
    case 'tool_result':
      return [
        {
          type: 'tool_result',
          tool_call_id: data.tool_call_id,
          success: !data.is_error,
          ...(data.is_error ? { error: data.result } : { result: data.result }),
        },
      ];
    case 'confirm_required':
      return [{ type: 'human_request', request_id: data.id, question: data.question }];
    case 'confirm_response':
      return [{ type: 'human_response', request_id: data.id }];
    case 'compaction':
      return [{ type: 'compacted', summary: data.summary, compacted_count: data.compacted_count }];
    case 'error': {
      const error_type = data.detector ? 'loop' : data.tool_call_id ? 'tool' : 'execution';
      return [{ type: 'error', error_type, message: data.text, recoverable: !data.terminal }];
    }
    default:
      return [];
  }
}

function toCall(tool: string, args: Fields, tool_call_id: string): readonly ExecutorEvent[] {
  const call = { type: 'tool_call', tool, arguments: args, tool_call_id } as const;
  if (tool !== FINISH_TOOL_NAME || typeof args.result !== 'string') return [call];
  const reasoning = typeof args.reasoning === 'string' ? args.reasoning : null;
  return [call, { type: 'finish_task', final_result: args.result, reasoning }];
}

export type FinalState = 'completed' | 'failed' | 'waiting_for_human';

/** JSON, with AgenticX's names. */
export interface ExecutorStats {
  readonly total_events: number;
  readonly tool_calls: number;
  readonly llm_calls: number;
  readonly errors: number;
  readonly human_requests: number;
  readonly final_state: FinalState;
  readonly token_usage: number;
  /** USD. */
  readonly estimated_cost: number;
}

/** `metrics`: one for each answer of a model. */
export function toStats(
  log: readonly ExecutorEvent[],
  final_state: FinalState,
  metrics: readonly Fields[],
): ExecutorStats {
  const count = (type: ExecutorEvent['type']) => log.filter((event) => event.type === type).length;
  const sum = (name: string) => metrics.reduce((total, metric) => total + (Number(metric[name]) || 0), 0);
  return {
    total_events: log.length,
    tool_calls: count('tool_call'),
    llm_calls: count('llm_call'),
    errors: count('error') + log.filter((event) => event.type === 'tool_result' && !event.success).length,
    human_requests: count('human_request'),
    final_state,
    token_usage: sum('total_tokens'),
    estimated_cost: sumUsd(metrics.map(({ cost }) => Number(cost) || 0)),
  };
}
