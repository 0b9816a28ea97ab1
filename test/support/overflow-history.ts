/** Random histories of mixed scripts, and what must hold of their requests whatever the model counts. */
import type { RecordedRequest } from '../../src/testing/index.ts';
import type { Counting, Family } from './counting-model.ts';
import { type OverflowThread, overflowThread } from './overflow-thread.ts';
import { type Random, seededRandom } from './seeded-random.ts';

const FAMILIES: readonly Family[] = ['openai', 'anthropic', 'groq', 'bedrock'];
const SCRIPTS = {
  latin: 'the quick brown fox jumps over the lazy dog and then some more of it ',
  cjk: '敏捷的棕色狐狸跳过了懒狗。然后又继续前进，没有回头。',
  code: 'const x1 = (a[0] ?? {}).b?.["c"] ** 2; if (!x1) { return [7, 8.5]; }\n',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAUA8AAFCAYAAACNbyblAAAAHElEQVQI12P4',
  cyrillic: 'съешь же ещё этих мягких французских булок, да выпей чаю ',
} as const;
type Script = keyof typeof SCRIPTS;

/** Plays one history. Returns what went wrong; empty if nothing did. */
export async function playHistory(seed: string): Promise<string[]> {
  const random = seededRandom(seed);
  const window = 2000 + random.below(14_000);
  const answer = random.pick(
    [undefined, window / 16, window / 8, window / 4].map((each) => each && Math.floor(each)),
  );
  const counting = countingOf(random.split('counting'), window);
  const room = window - (answer ?? 0);
  const system = textOf(random, 1 + random.below(Math.floor(room / 4)));
  const thread = overflowThread({
    ...{ counting, system, compacts: random.chance(0.5) },
    capabilities: {
      ...(random.chance(0.8) ? { maxContextTokens: window } : {}),
      ...(answer === undefined ? {} : { maxOutputTokens: answer }),
    },
  });
  const problems: string[] = [];
  const turns = 1 + random.below(12);
  for (let turn = 1; turn <= turns && problems.length === 0; turn += 1) {
    await playTurn(thread, random.split(turn), { room, problems });
    thread.ends();
  }
  return problems.map((problem) => `${seed}: ${problem}`);
}

interface Played {
  readonly room: number;
  readonly problems: string[];
}

async function playTurn(thread: OverflowThread, random: Random, { room, problems }: Played): Promise<void> {
  thread.says('user', textOf(random, sizeOf(random, room)));
  const steps = random.chance(0.4) ? 1 + random.below(3) : 0;
  for (let step = 0; step <= steps; step += 1) {
    const asked = await thread.ask();
    if (!asked.ok) problems.push(`a step failed: ${asked.error}`);
    for (const request of asked.requests) problems.push(...checkRequest(request));
    if (step === steps || !asked.ok) return;
    const calls = Array.from({ length: 1 + random.below(4) }, (_, index) => ({
      id: `call_${thread.rows.length}_${index}`,
      args: JSON.stringify({ text: textOf(random, 1 + random.below(Math.min(200, room / 16))) }),
      result: textOf(random, sizeOf(random, room)),
    }));
    thread.calls(calls);
  }
}

/** Mostly short, sometimes far longer than any window. */
function sizeOf(random: Random, room: number): number {
  return 1 + Math.floor(room * 8 * random.next() ** 5);
}

function countingOf(random: Random, window: number): Counting {
  const ratios = new Map<string, number>();
  const base = 0.7 + random.next() * 3.3;
  const perScript = random.chance(0.5);
  for (const script of Object.keys(SCRIPTS)) ratios.set(script, perScript ? 0.7 + random.next() * 3.3 : base);
  return {
    window,
    charactersPerToken: (text) => ratios.get(scriptOf(text)) ?? base,
    perMessage: random.below(20),
    family: random.pick(FAMILIES),
    ...(random.chance(0.2) ? { bytes: window * (4 + random.below(8)) } : {}),
  };
}

/** By the middle of a text: its begin may be a tag. */
function scriptOf(text: string): Script {
  const part = text.slice(text.length / 2, text.length / 2 + 12);
  const found = (Object.keys(SCRIPTS) as Script[]).find((script) =>
    (SCRIPTS[script] + SCRIPTS[script]).includes(part),
  );
  return found ?? 'latin';
}

function textOf(random: Random, length: number): string {
  const text = SCRIPTS[random.pick(Object.keys(SCRIPTS) as Script[])];
  return text.repeat(Math.ceil(length / text.length)).slice(0, Math.max(1, length));
}

/** Calls and results are paired, arguments whole, and the request begins with a user's message. */
function checkRequest({ messages }: RecordedRequest): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.shift() !== message.toolCallId)
        problems.push(`the result of ${message.toolCallId} is out of place`);
      continue;
    }
    if (open.length > 0) problems.push(`no result for ${open.join()}`);
    open = message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [];
    for (const { arguments: args } of message.role === 'assistant' ? (message.toolCalls ?? []) : [])
      if (typeof args.text !== 'string' || args.text.includes('left out'))
        problems.push('arguments were cut');
  }
  if (open.length > 0) problems.push(`no result for ${open.join()}`);
  const first = messages.find(({ role }) => role !== 'system');
  if (first?.role !== 'user') problems.push(`the first message is of ${first?.role}`);
  return problems;
}
