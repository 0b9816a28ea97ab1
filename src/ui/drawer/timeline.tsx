/** Bars over time: Temporal's queue, limiters, people, models, tools, subagents. */
import { useEffect, useState } from 'preact/hooks';
import { clock, duration } from '../text.ts';
import { type SpanKind, toTimeRows } from './spans.ts';
import type { TabProps } from './tab.ts';

/** Most rows at once: the newest ones. */
const SHOWN = 60;
const KINDS: Readonly<Record<SpanKind, string>> = {
  queue: 'Temporal’s queue',
  limiter: 'limiter, retry',
  person: 'a person',
  model: 'model',
  tool: 'tool',
  subagent: 'subagent',
};

export function Timeline({ reading }: TabProps) {
  const [now, setNow] = useState(Date.now() * 1000);
  const status = reading.thread.value?.status;
  useEffect(() => {
    if (status !== 'running' && status !== 'waiting') return undefined;
    const timer = setInterval(() => setNow(Date.now() * 1000), 1000);
    return () => clearInterval(timer);
  }, [status]);
  void reading.changes.value;
  const rows = toTimeRows(reading.log.items, now).slice(-SHOWN);
  const spans = rows.flatMap((row) => row.spans);
  if (spans.length === 0) return <p class="faint">Nothing has taken time yet.</p>;
  const from = Math.min(...spans.map((span) => span.from));
  const total = Math.max(1, Math.max(...spans.map((span) => span.to)) - from);
  const sums = Object.keys(KINDS).map((kind) => {
    const sum = spans
      .filter((span) => span.kind === kind)
      .reduce((all, span) => all + span.to - span.from, 0);
    return [kind as SpanKind, sum] as const;
  });
  return (
    <>
      <p>
        {sums.map(
          ([kind, sum]) =>
            sum > 0 && (
              <span key={kind} class={`legend ${kind}`}>
                {KINDS[kind]} {duration(sum)}
              </span>
            ),
        )}
      </p>
      <p class="faint">
        {clock(from)} to {clock(from + total)}, {duration(total)}
        {reading.from > 1 && ': the newest part'}
      </p>
      <table class="timeline">
        <tbody>
          {rows.map((row) => {
            const time = row.spans.reduce((sum, span) => sum + span.to - span.from, 0);
            return (
              <tr key={row.key}>
                <th scope="row">
                  <bdi>{row.label}</bdi>
                </th>
                <td class="track">
                  {row.spans.map((span) => (
                    <span
                      key={span.kind + span.from}
                      class={`span ${span.kind}`}
                      title={`${KINDS[span.kind]}: ${duration(span.to - span.from)}`}
                      style={{
                        left: `${(100 * (span.from - from)) / total}%`,
                        width: `${(100 * (span.to - span.from)) / total}%`,
                      }}
                    />
                  ))}
                </td>
                <td class="number">{duration(time)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
