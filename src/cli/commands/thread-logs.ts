/** `everthread threads logs`: durations and costs of a thread's work (runtime §12). Needs the store, and no server. */
import type { Command } from 'commander';
import type { Log } from '../../core/author/thread-log.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import { sumUsd } from '../../core/value/money.ts';
import {
  addCommon,
  type Cli,
  type CommonOptions,
  parseCount,
  THREAD_ARGUMENT,
  withExitCode,
} from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { note, printJson, printLine, tone, toTable } from '../output/output.ts';
import { shorten } from '../output/terminal-text.ts';

interface LogOptions extends CommonOptions {
  readonly limit: number;
}

export function addThreadLogs(threads: Command, cli: Cli): void {
  const logs = threads
    .command('logs')
    .summary('model calls with tokens and cost, tool calls, executions')
    .description(
      'Lists what the thread did, newest last: model calls with their tokens and cost, tool calls with their outcome, ' +
        'executions, effects. Never content. With --json: { logs }.',
    )
    .argument(...THREAD_ARGUMENT)
    .option('--limit <n>', 'at most n entries, the newest ones', parseCount, 100);
  addCommon(logs).action(withExitCode(cli, listLogs));
}

async function listLogs(threadId: string, { project, json, limit }: LogOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    const logs = (await store.events.getLogs(threadId, { limit })).toReversed();
    if (json) return printJson({ logs });
    if (logs.length === 0) return note('Nothing has happened yet.');
    const headings = ['AT', 'WHAT', 'NAME', 'OUTCOME', 'TOOK', 'TOKENS', 'COST'];
    const [heading = '', ...lines] = toTable([headings, ...logs.map(toRow)]).split('\n');
    printLine(tone('dim', heading));
    for (const line of lines) printLine(line);
    printTotals(logs);
  });
  return undefined;
}

function toRow({ type, data, created_at: at }: Log): string[] {
  const { model, name, agent, latencyMs, durationMs, usage, cost } = data;
  const took = latencyMs ?? durationMs;
  return [
    new Date(at / 1000).toISOString().slice(0, 19).replace('T', ' '),
    type.replace('_', ' '),
    shorten(String(model ?? name ?? agent ?? ''), 40),
    shorten(toOutcome(data), 32),
    typeof took === 'number' ? `${Math.round(took)} ms` : '',
    usage ? tokensOf(usage as ProviderUsage) : '',
    typeof cost === 'number' ? `$${cost.toFixed(4)}` : '',
  ];
}

/** Formats the outcome of an entry: `success`, `lost`, `ended: stop_on_response`, `scheduled`. */
function toOutcome({ event, status, state, reason }: Log['data']): string {
  const detail = event === 'execution.ended' ? reason : (status ?? state ?? reason);
  if (typeof event !== 'string') return String(detail ?? '');
  const what = event.split('.').at(-1) ?? event;
  return typeof detail === 'string' ? `${what}: ${detail}` : what;
}

const tokensOf = ({ promptTokens, completionTokens }: ProviderUsage): string =>
  `${promptTokens} + ${completionTokens}`;

/** Prints the totals of the listed entries. */
function printTotals(logs: readonly Log[]): void {
  const calls = logs.filter(({ type }) => type === 'model_call');
  const tokens = calls.reduce(
    (sum, { data }) => sum + ((data.usage as ProviderUsage | null)?.totalTokens ?? 0),
    0,
  );
  const costs = calls.map(({ data }) => data.cost).filter((cost) => typeof cost === 'number');
  const price = costs.length > 0 ? `, $${sumUsd(costs).toFixed(4)}` : '';
  note(`${calls.length} model ${calls.length === 1 ? 'call' : 'calls'}, ${tokens} tokens${price}`);
}
