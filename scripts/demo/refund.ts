/**
 * The third scenario: a refund that a person must approve. The worker is killed while the thread waits, the person decides with the
 * command while no worker is there, and the next worker does what was shown, once.
 */
import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readRefunds } from '../../agents/tools/_till.ts';
import type { Wait } from '../../src/store/wait/wait-record.ts';
import { createNarrator } from './narrator.ts';
import type { Finding } from './promise.ts';
import { printPromises, printRunning, printTranscript } from './report.ts';
import type { Theatre } from './theatre.ts';
import { ThreadLog } from './thread-log.ts';

const PROJECT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COMMAND = join(PROJECT, 'bin', 'everthread.js');
const MODEL_MS = 180_000;
const run = promisify(execFile);

export async function performRefund(theatre: Theatre): Promise<boolean> {
  const { screen, client, threadId, stack, options } = theatre;
  screen.say('you', options.question);
  await client.startThread({
    agent: 'cashier',
    threadId,
    messages: [{ id: 'question', content: options.question }],
  });
  const log = new ThreadLog(client, threadId, createNarrator(screen, client, threadId, 'cashier'));
  stack.defer(() => log.close());
  const wait = await Promise.race([untilAsked(theatre), theatre.failure]);
  if (!wait) {
    screen.say('note', 'The model asked for no refund: nothing waits for a person.');
    return true;
  }
  await (options.calm ? decide(theatre, wait) : decideWithoutWorker(theatre, wait));
  await Promise.race([client.waitForIdle(threadId, { timeoutMs: MODEL_MS }), theatre.failure]);
  const { lastSeq } = await client.getThread(threadId);
  const isTold = () => (log.events.at(-1)?.seq ?? 0) >= lastSeq || undefined;
  await log.until('the log tells of it', isTold, MODEL_MS);
  const findings = await checkRefund(theatre, wait, log);
  printTranscript(screen, (await client.getMessages(threadId, { limit: 1000 })).messages);
  printPromises(screen, findings);
  screen.heading('Where to look');
  screen.plain('  agents/agents/cashier.ts          its policy: what a person must approve');
  screen.plain('  agents/tools/refund_fare.ts       the refund, and what a person is shown of it');
  if (options.keep) printRunning(screen, theatre, 'And 10 euros for LF-2208, please.');
  return findings.every(({ kept }) => kept);
}

async function untilAsked({ client, threadId }: Theatre): Promise<Wait | undefined> {
  await client.waitForIdle(threadId, { timeoutMs: MODEL_MS });
  return (await client.listWaits({ threadId }))[0];
}

async function decideWithoutWorker(theatre: Theatre, wait: Wait): Promise<void> {
  const { screen, first, startWorker } = theatre;
  const { summary } = wait;
  screen.say('note', `The thread waits for a person: ${summary}. No process holds that wait.`);
  await first.kill();
  screen.say('KILL', `worker ${first.name} (SIGKILL to process ${first.pid}): while the refund waits`);
  await decide(theatre, wait);
  screen.say('note', `Decided, and nothing is paid yet: there is no worker.`);
  const next = startWorker('B');
  screen.say('worker', `process ${next.pid} starts, as a supervisor would see to it`, `worker ${next.name}`);
}

async function decide(theatre: Theatre, { id }: Wait): Promise<void> {
  await command(theatre, ['waits', 'show', id]);
  await command(theatre, ['waits', 'answer', id, '--approve', '--by', 'ada']);
}

/** Runs the command in a separate process, as from a shell. */
async function command({ screen, environment }: Theatre, args: readonly string[]): Promise<void> {
  screen.say('you', `$ npx everthread ${args.join(' ')}`);
  const { stdout, stderr } = await run(process.execPath, [...process.execArgv, COMMAND, ...args], {
    cwd: PROJECT,
    env: environment,
  });
  screen.block((stdout + stderr).trimEnd());
}

async function checkRefund({ client, threadId }: Theatre, wait: Wait, log: ThreadLog): Promise<Finding[]> {
  const paid = await readRefunds(threadId);
  const [action] = await client.listActions({ threadId });
  const opened = log.events.filter(({ type }) => type === 'wait.opened').length;
  const begun = log.events.filter(({ type }) => type === 'tool.started').length;
  const { status } = await client.getThread(threadId);
  const shown = wait.data as { readonly arguments?: { readonly booking?: string; readonly euros?: number } };
  const { booking, euros } = shown.arguments ?? {};
  return [
    { kept: opened === 1, text: `asked once, under one id, before and after the crash (${wait.id})` },
    {
      kept: begun === 1 && paid.length === 1,
      text: `begun ${begun} time, paid ${paid.length} time, after it was approved`,
    },
    {
      kept:
        action?.fingerprint === wait.fingerprint &&
        paid.some((line) => line.startsWith(`- ${booking}: ${euros} euros`)),
      text: `what was paid is what was shown: ${euros} euros for ${booking}`,
    },
    { kept: status === 'idle', text: `the thread rests and takes the next message (status ${status})` },
  ];
}
