/** `everthread threads logs`: durations and costs of a thread's work (runtime §12). Needs the store, and no server. */
import type { Log } from '../../core/author/thread-log.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import { sumUsd } from '../../core/value/money.ts';
import { shorten } from '../../core/value/shown-text.ts';
import { option, parseCount, THREAD } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { type Cells, listing } from '../output/listing.ts';
import { costText } from '../output/thread-text.ts';

export const threadLogs = storeCommand({
  description:
    'Lists what the thread did, newest last: model calls with their tokens and cost, tool calls with their outcome, ' +
    'executions, effects. Never content. With --json: { logs }.',
  arguments: { thread: THREAD },
  options: { limit: option('<n>', 'at most n entries, the newest ones', parseCount, 100) },
  async read(store, { thread, limit }) {
    await readThread(store, thread);
    const logs = (await store.events.getLogs(thread, { limit })).toReversed();
    const listed = listing('logs', logs, { columns: COLUMNS, none: 'Nothing has happened yet.' });
    return logs.length === 0 ? listed : { ...listed, note: totalsText(logs) };
  },
});

const COLUMNS: Cells<Log> = {
  AT: ({ created_at: at }) => new Date(at / 1000).toISOString().slice(0, 19).replace('T', ' '),
  WHAT: ({ type }) => type.replace('_', ' '),
  NAME: ({ data: { model, name, agent } }) => shorten(String(model ?? name ?? agent ?? ''), 40),
  OUTCOME: ({ data }) => shorten(toOutcome(data), 32),
  TOOK({ data: { latencyMs, durationMs } }) {
    const took = latencyMs ?? durationMs;
    return typeof took === 'number' ? `${Math.round(took)} ms` : null;
  },
  TOKENS: ({ data: { usage } }) => (usage ? tokensOf(usage as ProviderUsage) : null),
  COST: ({ data: { cost } }) => (typeof cost === 'number' ? costText(cost) : null),
};

/** Formats the outcome of an entry: `success`, `lost`, `ended: stop_on_response`, `scheduled`. */
function toOutcome({ event, status, state, reason }: Log['data']): string {
  const detail = event === 'execution.ended' ? reason : (status ?? state ?? reason);
  if (typeof event !== 'string') return String(detail ?? '');
  const what = event.split('.').at(-1) ?? event;
  return typeof detail === 'string' ? `${what}: ${detail}` : what;
}

const tokensOf = ({ promptTokens, completionTokens }: ProviderUsage): string =>
  `${promptTokens} + ${completionTokens}`;

/** The totals of the listed entries. */
function totalsText(logs: readonly Log[]): string {
  const calls = logs.filter(({ type }) => type === 'model_call');
  const tokens = calls.reduce(
    (sum, { data }) => sum + ((data.usage as ProviderUsage | null)?.totalTokens ?? 0),
    0,
  );
  const costs = calls.map(({ data }) => data.cost).filter((cost) => typeof cost === 'number');
  const price = costs.length > 0 ? `, ${costText(sumUsd(costs))}` : '';
  return `${calls.length} model ${calls.length === 1 ? 'call' : 'calls'}, ${tokens} tokens${price}`;
}
