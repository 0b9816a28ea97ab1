/** Prints the end of the demo: the transcript, the promises, the cost, and where to see more. */
import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import type { Message } from '../../src/core/message/message.ts';
import { shorten, toToolCalls } from './narrator.ts';
import type { Finding } from './promise.ts';
import type { Screen } from './screen.ts';
import type { TemporalService } from './service.ts';
import type { Crash } from './story.ts';

export function printTranscript(screen: Screen, messages: readonly Message[]): void {
  screen.heading('The thread, as it is stored');
  for (const message of messages) {
    for (const row of toRows(message)) screen.plain(`  ${row}`);
  }
}

function toRows(message: Message): string[] {
  const { role, name, content, tool_status: status } = message;
  const text = shorten((content ?? '').replace(/\s+/g, ' '), 88);
  if (role === 'tool')
    return [`  ${status === 'success' ? '✓' : '!'} ${name}: ${text}`, ...toFileRows(message)];
  const calls = toToolCalls(message).map(
    (call) => `calls ${call.function.name} ${shorten(call.function.arguments, 70)}`,
  );
  return [...(text === '' ? [] : [text]), ...calls].map(
    (row) => `${styleText('bold', role.padEnd(10))}${row}`,
  );
}

function toFileRows({ attachments }: Message): string[] {
  return (attachments ?? []).map(({ path, size }) => `    with the file ${path} (${size} bytes)`);
}

export function printPromises(screen: Screen, findings: readonly Finding[]): void {
  screen.heading('What was promised, counted from the store and the bulletin');
  for (const { kept, text } of findings) {
    screen.plain(
      `  ${kept ? styleText('green', '✓ kept  ') : styleText(['bold', 'red'], '✗ BROKEN')}  ${text}`,
    );
  }
}

export function printPrice(screen: Screen, crashes: readonly Crash[]): void {
  if (crashes.length === 0) return;
  screen.heading('What each crash cost, from SIGKILL to the first sign of continued work');
  for (const { worker, of, step, costMs, timeoutMs } of crashes) {
    const what =
      of === 'answer' ? `the answer of step ${step} was asked for again` : 'the lost call was settled';
    screen.plain(
      `  worker ${worker}  ${`${Math.round(costMs)} ms`.padStart(9)}  until ${what} (heartbeat timeout ${timeoutMs} ms)`,
    );
  }
}

export interface Place {
  readonly temporal: TemporalService;
  readonly threadId: string;
  readonly taskQueue: string;
  readonly folder: string;
  readonly historyLength: number;
  readonly keep: boolean;
}

export function printPlaces(screen: Screen, place: Place): void {
  const { historyLength, keep } = place;
  const folder = relative(process.cwd(), place.folder) || '.';
  const rows = [
    [join(folder, 'published.md'), 'the bulletin'],
    [
      join(folder, 'store.db'),
      `the conversation; Temporal keeps ${historyLength} events of it, without the answers`,
    ],
    ['agents', 'the librarian: agent, prompt, model, tools, and the texts it reads'],
  ] as const;
  screen.heading('Where to look');
  for (const [path, what] of rows) screen.plain(`  ${path.padEnd(34)}${what}`);
  if (keep) printRunning(screen, place, 'When may we release?');
  else {
    screen.plain(
      `  ${'npm run demo -- --keep'.padEnd(34)}leaves it all running, with the thread in the Web UI`,
    );
  }
}

/** `next`: an example of a message to send to the thread. */
export function printRunning(
  screen: Screen,
  { temporal, threadId, taskQueue }: Pick<Place, 'temporal' | 'threadId' | 'taskQueue'>,
  next: string,
): void {
  const workflow = `thread/${threadId}`;
  const page = `/namespaces/${temporal.namespace}/workflows/${encodeURIComponent(workflow)}`;
  screen.plain(`  ${temporal.uiUrl ?? '(your Web UI)'}${page}`);
  screen.heading('It goes on until Ctrl-C. In another terminal:');
  screen.plain(`  export TEMPORAL_ADDRESS=${temporal.address} EVERTHREAD_TASK_QUEUE=${taskQueue}`);
  screen.plain(`  node scripts/run.mjs examples/client/send-message.ts ${threadId} "${next}"`);
  screen.plain(`  node scripts/run.mjs examples/client/status.ts ${threadId}`);
}
