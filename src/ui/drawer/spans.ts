/** What the time of a story went into: spans of the steps and calls of its log. */
import type { LogItem, StepItem, ToolItem } from '../story/log.ts';

export type SpanKind = 'queue' | 'limiter' | 'person' | 'model' | 'tool' | 'subagent';

export interface Span {
  readonly kind: SpanKind;
  readonly from: number;
  readonly to: number;
}

export interface TimeRow {
  readonly key: string;
  readonly label: string;
  readonly spans: readonly Span[];
}

/** `now`: the end of what is still running, in microseconds since 1970. */
export function toTimeRows(items: readonly LogItem[], now: number): readonly TimeRow[] {
  return items.flatMap((item) => {
    const spans =
      item.kind === 'step' ? stepSpans(item, now) : item.kind === 'tool' ? toolSpans(item, now) : [];
    if (spans.length === 0 || (item.kind !== 'step' && item.kind !== 'tool')) return [];
    return [{ key: item.key, label: item.kind === 'step' ? `Step ${item.step}` : item.name, spans }];
  });
}

function stepSpans({ at, queuedMs, calls, state }: StepItem, now: number): readonly Span[] {
  const spans: Span[] = queuedMs ? [{ kind: 'queue', from: at - queuedMs * 1000, to: at }] : [];
  let last: number | null = null;
  for (const call of calls) {
    // Between two requests of a step, its model was held back.
    if (last !== null && call.at > last) spans.push({ kind: 'limiter', from: last, to: call.at });
    const to: number = call.endedAt ?? (state === 'running' ? now : call.at);
    spans.push({ kind: 'model', from: call.at, to });
    last = to;
  }
  return spans;
}

function toolSpans(tool: ToolItem, now: number): readonly Span[] {
  const { at, queuedMs, startedAt, endedAt, waitedAt, waitedMicros, child } = tool;
  const end = endedAt ?? now;
  const waited = waitedMicros + (waitedAt === null ? 0 : now - waitedAt);
  const begun = startedAt ?? at + waited;
  return [
    ...(waited > 0 ? [{ kind: 'person' as const, from: at, to: Math.min(end, at + waited) }] : []),
    ...(queuedMs ? [{ kind: 'queue' as const, from: begun - queuedMs * 1000, to: begun }] : []),
    ...(startedAt === null
      ? []
      : [{ kind: child ? ('subagent' as const) : ('tool' as const), from: begun, to: end }]),
  ];
}
