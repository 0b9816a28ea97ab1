/** Mastra: a durable agent in this process; snapshots of its loop go to its storage, LibSQL in a file. */
import { join } from 'node:path';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { effect, openLedger, say } from '../support/peers/double.ts';
import { INSTRUCTIONS, model } from './ai-model.mjs';

export async function start({ folder, ledger, fail }) {
  await openLedger(ledger);
  const agent = new Agent({
    id: 'agent',
    name: 'agent',
    instructions: INSTRUCTIONS,
    model,
    tools: {
      effect: createTool({
        id: 'effect',
        description: 'Appends a line.',
        inputSchema: z.object({ thread: z.string(), n: z.number() }),
        execute: (call) => effect(call),
      }),
    },
    durable: true,
  });
  const storage = new LibSQLStore({ id: 'storage', url: `file:${join(folder, 'mastra.db')}` });
  const mastra = new Mastra({
    agents: { agent },
    storage,
    logger: false,
    recovery: { durableAgents: 'auto' },
  });
  const durable = mastra.getAgent('agent');
  const running = new Map();
  const begin = async (thread, content) => {
    const { output, fullStream, abort } = await durable.stream(content, { runId: thread, maxSteps: 10_000 });
    const ended = read(fullStream ?? output.fullStream).catch((error) => fail(thread, error));
    running.set(thread, { abort, ended });
  };
  return {
    run: (thread, steps) => begin(thread, say('go', steps, thread)),
    hang: (thread) => begin(thread, say('hang', 0, thread)),
    async cancel(thread) {
      const { abort, ended } = running.get(thread);
      abort();
      await ended;
    },
    /** Its own server does this at its start; a program that embeds it has to. */
    async resume() {
      const { recovered, failed } = await mastra.recoverAllDurableAgents();
      if (failed > 0) throw new Error(`its recovery failed for ${failed} of ${recovered} runs`);
    },
  };
}

async function read(stream) {
  for await (const part of stream) if (part.type === 'error') throw part.payload?.error ?? part.error;
}
