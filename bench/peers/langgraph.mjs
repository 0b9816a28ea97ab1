/** LangGraph.js: the agent as a graph of a model and a tool node; its checkpointer saves the state after each of them. */
import { join } from 'node:path';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { decide, effect, hang, note, openLedger, say } from '../support/peers/double.ts';
import { INSTRUCTIONS } from './ai-model.mjs';

class Double extends BaseChatModel {
  _llmType() {
    return 'double';
  }
  bindTools() {
    return this;
  }
  async _generate(messages, { signal }) {
    const asked = messages.findLastIndex((message) => message.getType() === 'human');
    const results = messages.slice(asked).filter((message) => message.getType() === 'tool').length;
    const decision = decide(messages[asked].content, results);
    if (decision.kind === 'hang') await hang(decision.thread, signal);
    if (decision.kind !== 'call') await note('d', decision.thread);
    const message =
      decision.kind === 'call'
        ? { content: '', tool_calls: [{ id: `call_${results}`, name: 'effect', args: decision.call }] }
        : { content: 'Done.' };
    return { generations: [{ text: message.content, message: new AIMessage(message) }] };
  }
}

export async function start({ folder, ledger, database, settings, fail }) {
  await openLedger(ledger);
  const checkpointer = database ? PostgresSaver.fromConnString(database) : openSqlite(folder, settings);
  await checkpointer.setup?.();
  const schema = z.object({ thread: z.string(), n: z.number() });
  const tools = [tool(effect, { name: 'effect', description: 'Appends a line.', schema })];
  const model = new Double({}).bindTools(tools);
  const ask = async ({ messages }, config) => ({
    messages: [await model.invoke([new SystemMessage(INSTRUCTIONS), ...messages], config)],
  });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', ask)
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'model')
    .addConditionalEdges('model', toolsCondition)
    .addEdge('tools', 'model')
    .compile({ checkpointer });
  const running = new Map();
  const invoke = (thread, input) => {
    const leaving = new AbortController();
    const ended = graph
      .invoke(input, {
        configurable: { thread_id: thread },
        durability: settings.durability,
        recursionLimit: 10_000,
        signal: leaving.signal,
      })
      .catch((error) => fail(thread, error));
    running.set(thread, { leaving, ended });
  };
  const begin = async (thread, content) => invoke(thread, { messages: [new HumanMessage(content)] });
  return {
    run: (thread, steps) => begin(thread, say('go', steps, thread)),
    hang: (thread) => begin(thread, say('hang', 0, thread)),
    async cancel(thread) {
      const { leaving, ended } = running.get(thread);
      leaving.abort();
      await ended;
    },
    /** The library keeps no list of what was running: the application has to know it. */
    async resume(threads) {
      for (const thread of threads) invoke(thread, null);
    },
  };
}

function openSqlite(folder, { synchronous }) {
  const database = new Database(join(folder, 'checkpoints.db'));
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${synchronous}`);
  return new SqliteSaver(database);
}
