/** The end of a run: with its execution, or when a person or the client is waited for. */
import type { EventData } from '../../core/event/event-data.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import { emitClientCalls } from './ag-ui-calls.ts';
import type { AgUiEvent, AgUiUsage } from './ag-ui-event.ts';
import type { OpenRun } from './ag-ui-state.ts';
import { closeStep } from './ag-ui-text.ts';

export function endRun(run: OpenRun, end: EventData['execution.ended']): readonly AgUiEvent[] {
  const { status = 'idle', reason, error } = end;
  const usage = usageOf(run);
  if (status === 'failed') {
    const { code, message } = error ?? { code: 'ExecutionFailed', message: reason };
    return [...closingEvents(run), { type: 'RUN_ERROR', code, message, usage }];
  }
  const type = status === 'idle' ? 'success' : 'cancelled';
  return [...closingEvents(run), { type: 'RUN_FINISHED', outcome: { type }, usage }];
}

/** Ends a run at a wait. The answers begin the next run. */
export function endAtWait(run: OpenRun): readonly AgUiEvent[] {
  const interrupts = Object.values(run.waits);
  const isOfClient = Object.keys(run.clientWaits).length > 0;
  const [closed, calls] = isOfClient ? emitClientCalls(run) : [run, []];
  // Calls for the client end the run with success: its next run brings their results. A wait without a `wait.opened`
  // row (the log is older than that kind of row) cannot be listed, and ends the run in the same way.
  const outcome =
    interrupts.length > 0 ? ({ type: 'interrupt', interrupts } as const) : { type: 'success' as const };
  return [...calls, ...closingEvents(closed), { type: 'RUN_FINISHED', outcome, usage: usageOf(run) }];
}

function closingEvents(run: OpenRun): readonly AgUiEvent[] {
  const [, ending] = closeStep(run);
  const suspended = Object.keys(run.subagents).map(
    (subagentRunId): AgUiEvent => ({
      type: 'SUBAGENT_FINISHED',
      subagentRunId,
      outcome: { type: 'suspended' },
    }),
  );
  return [...ending, ...suspended];
}

function usageOf({ usage }: OpenRun): readonly AgUiUsage[] {
  return usage ? [usage] : [];
}

export function addUsage(sum: AgUiUsage | null, usage: ProviderUsage | null): AgUiUsage | null {
  if (!usage) return sum;
  const { promptTokens, completionTokens, cachedTokens = 0, reasoningTokens = 0 } = usage;
  return {
    inputTokens: (sum?.inputTokens ?? 0) + promptTokens,
    outputTokens: (sum?.outputTokens ?? 0) + completionTokens,
    totalTokens: (sum?.totalTokens ?? 0) + promptTokens + completionTokens,
    cachedInputTokens: (sum?.cachedInputTokens ?? 0) + cachedTokens,
    reasoningTokens: (sum?.reasoningTokens ?? 0) + reasoningTokens,
  };
}
