/**
 * The spans of a demo's threads, compared with golden files: the trees, and sums with those of the store. A child that is not waited for
 * has a tree of its own. `EVERTHREAD_WRITE_GOLDEN=1` rewrites the files; a person must then review them.
 */
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { toPico } from '../../src/core/value/money.ts';
import { openStore } from '../../src/store/open-store.ts';
import { attributeOf, drawTree, type OtlpReceiver, onceEach, receiveOtlp } from '../support/otlp-receiver.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { expectGoldenStory } from './demo-story.ts';

export async function receiveTraces(): Promise<OtlpReceiver> {
  const receiver = await receiveOtlp();
  closeAfterTest(receiver.close);
  return receiver;
}

/** No orphan, one id for a piece of work, and the same sums of tokens and cost as in the store. */
export async function expectGoldenTrace(name: string, { spans: received }: OtlpReceiver, folder: string) {
  const spans = onceEach(received);
  expectGoldenStory(`${name}-trace`, mergeTrees(drawTree(spans), 'invoke_agent coordinator'));
  expect(await sumOfStore(folder)).toEqual(sumOf(spans));
}

/** Trees of an agent whose executions are as many as the order of reports makes of them: each line once. */
function mergeTrees(lines: readonly string[], root: string): readonly string[] {
  const merged = new Set<string>();
  let within = false;
  const others = lines.filter((line) => {
    if (!line.startsWith(' ')) within = line === root;
    if (within) merged.add(line);
    return !within;
  });
  // A space sorts before the root's name.
  return [...[...merged].sort().toReversed(), ...others];
}

function sumOf(spans: ReturnType<typeof onceEach>) {
  const chats = spans.filter(({ name }) => name.startsWith('chat '));
  const sum = (name: string) => chats.reduce((all, span) => all + Number(attributeOf(span, name) ?? 0), 0);
  const cost = chats.reduce(
    (all, span) => all + toPico(Number(attributeOf(span, 'everthread.cost_usd') ?? 0)),
    0n,
  );
  return { input: sum('gen_ai.usage.input_tokens'), output: sum('gen_ai.usage.output_tokens'), cost };
}

async function sumOfStore(folder: string) {
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`, folder);
  try {
    const sums = { input: 0, output: 0, cost: 0n };
    for (const { id } of await store.threads.list({})) {
      const thread = await store.threads.get(id);
      sums.input += thread?.inputTokens ?? 0;
      sums.output += thread?.outputTokens ?? 0;
      sums.cost += toPico(thread?.costUsd ?? 0);
    }
    return sums;
  } finally {
    await store.close();
  }
}
