/** Context manifests with the field names of Protolink's runtime page, built from a request's row and its run. */
import type { ContextManifest, ContextSection } from '../../core/context/context-manifest.ts';
import type { EventData } from '../../core/event/event-data.ts';
import { type Fields, snakeFields } from './run-handler.ts';
import { type OpenRun, toTime } from './run-state.ts';

/** JSON. */
export interface RunManifest {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly agent_name: string | null;
  /** Name of the factory of its provider. */
  readonly provider: string | null;
  readonly model: string;
  readonly model_id: string;
  readonly system_tokens: number;
  readonly tool_prompt_tokens: number;
  readonly history_tokens: number;
  readonly user_tokens: number;
  readonly total_estimated_tokens: number;
  readonly context_window: number | null;
  readonly context_items: readonly {
    readonly kind: string;
    readonly name: string;
    readonly tokens: number;
    readonly metadata: Readonly<Record<string, unknown>>;
  }[];
  /** Always true: the counted tokens are reported with the answer. */
  readonly estimated: boolean;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const SECTION_NAMES: Readonly<Record<ContextSection, string>> = {
  system: 'system_prompt',
  tool_prompt: 'runtime_affordances',
  history: 'conversation_history',
  user: 'current_user_query',
};

export function toManifest(
  { runId, context }: Pick<OpenRun, 'runId' | 'context'>,
  { contextItems = [], ...data }: Partial<EventData['context.prepared']>,
  at: number,
): Fields {
  const { run_id = runId, session_id = null, agent_chain: chain } = context ?? {};
  return {
    run_id,
    session_id,
    agent_name: Array.isArray(chain) ? (chain.at(-1) ?? null) : null,
    provider: null,
    metadata: {},
    ...snakeFields(data),
    context_items: contextItems.map(toItem),
    estimated: true,
    created_at: toTime(at),
  };
}

function toItem({ kind, tokens, count }: ContextManifest['contextItems'][number]): Fields {
  const metadata = kind === 'tool_prompt' ? { tool_count: count } : { message_count: count };
  return { kind, name: SECTION_NAMES[kind], tokens, metadata };
}
