/** Contexts of runs: those of a thread's start and of its items, stored with the execution (docs/governance.md). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  childContext,
  type GivenContext,
  type RunContext,
} from '../../../src/core/governance/run-context.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver, tool } from '../thread-driver.ts';
import { create, openParent } from './family-driver.ts';

export const EVERY_FIELD: GivenContext = {
  runId: 'run_123',
  sessionId: 'session_abc',
  traceId: 'trace_abc',
  workspaceUri: 'file:///workspace',
  organizationId: 'acme',
  parentRunId: 'run_122',
  agentChain: ['gateway'],
  permissions: { 'fs.read': { paths: ['file:///workspace'] }, 'fs.write': 'deny' },
  budget: { maxSteps: 8, maxLlmCalls: 4, maxCost: 0.5 },
  metadata: { ticket: 4711 },
};

const complete = (given: GivenContext): RunContext => ({
  ...(EVERY_FIELD as RunContext),
  canceled: false,
  cancelReason: null,
  ...given,
});

export function registerRunContext(given: () => Stores): void {
  const read = async ({ id, store }: ThreadDriver) => (await store.executions.get(id))?.context;

  describe('the context of a run', () => {
    it('[PL-01] is stored with the execution as its message carried it, and in the metadata', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a', 'go', { context: EVERY_FIELD })]);
      const context = complete({ agentChain: ['gateway', 'helper'] });
      expect(await read(thread)).toEqual(context);
      expect(await given().second.executions.get(thread.id)).toMatchObject({ context, contextGiven: true });
      expect((await thread.messages())[0]?.metadata).toMatchObject({
        run_id: 'run_123',
        session_id: 'session_abc',
        trace_id: 'trace_abc',
        workspace_uri: 'file:///workspace',
        parent_run_id: 'run_122',
        run_context: {
          run_id: 'run_123',
          agent_chain: ['gateway', 'helper'],
          permissions: EVERY_FIELD.permissions,
          budget: { max_steps: 8, max_llm_calls: 4, max_cost: 0.5 },
          canceled: false,
          metadata: { ticket: 4711 },
        },
      });
      expect(await thread.events('execution.started')).toMatchObject([
        { data: { executionId: 'execution-1', runId: 'run_123' } },
      ]);
    });

    it('is carried by a tool and by staged or spilled items, and seen by hooks before it is stored', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const context = { runId: 'r-1' };
      await store.queue.stage(thread.id, message('a', 'large', { context }));
      await thread.stash({ ...tool('t', 'look'), context: { traceId: 't-1' } });
      const items = [{ kind: 'stored', id: 'a', role: 'user' }] as const;
      const asked = { ...thread.from, ordinal: 0, items, afterStep: 0, executionId: thread.executionId };
      const pending = await store.queue.readPending(asked);
      await thread.begin(items);
      expect(await read(thread)).toMatchObject({ runId: 'r-1', traceId: 't-1', agentChain: ['helper'] });
      // A row that is only staged gets its place in line when its step begins.
      expect(pending.runContext).toMatchObject({ traceId: 't-1' });
    });

    it('[PL-02] is read from metadata without a context', async () => {
      const thread = await openThread(given().store);
      const metadata = {
        session_id: 's-1',
        trace_id: 't-1',
        workspace: 'file:///old',
        parent_agent: 'run_9',
        permissions: { 'records.write': 'deny' },
        budgets: { max_steps: 3 },
        colour: 'red',
      };
      await thread.answer([message('a', 'go', { metadata })]);
      expect(await read(thread)).toEqual({
        runId: 'execution-1',
        sessionId: 's-1',
        traceId: 't-1',
        workspaceUri: 'file:///old',
        organizationId: null,
        parentRunId: 'run_9',
        agentChain: ['helper'],
        permissions: { 'records.write': 'deny' },
        budget: { maxSteps: 3 },
        canceled: false,
        cancelReason: null,
        metadata: {},
      });
      const [first] = await thread.messages();
      expect(first?.metadata).toMatchObject({
        ...metadata,
        run_id: 'execution-1',
        workspace_uri: 'file:///old',
      });
    });

    it('is derived from the execution if none is given, and nothing is stored for it', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a', 'go', { metadata: { permissions: { all: true }, canceled: true } })]);
      expect(await given().store.executions.get(thread.id)).toMatchObject({
        context: { runId: 'execution-1', sessionId: thread.id, agentChain: ['helper'], permissions: {} },
        contextGiven: false,
      });
      expect((await thread.messages())[0]?.metadata).toEqual({ permissions: { all: true }, canceled: true });
      expect(await thread.events('execution.started')).toMatchObject([
        { data: { executionId: 'execution-1' } },
      ]);
    });

    it('starts as the thread’s own, and items can only narrow it', async () => {
      const thread = new ThreadDriver(given().store);
      const standing = {
        sessionId: 's-1',
        permissions: { 'records.*': 'require_approval' },
        budget: { maxSteps: 5, maxCost: 1 },
      };
      await thread.open({ context: standing });
      const wider = {
        runId: 'r-1',
        sessionId: 's-2',
        permissions: { 'records.*': 'allow', 'files.write': 'deny' },
        budget: { maxSteps: 9, maxCost: 0.5 },
      };
      await thread.answer([message('a', 'go', { context: wider })]);
      expect(await read(thread)).toMatchObject({
        runId: 'r-1',
        sessionId: 's-2',
        permissions: { capabilities: { 'records.*': 'require_approval', 'files.write': 'deny' } },
        budget: { maxSteps: 5, maxCost: 0.5 },
      });
      await thread.rest();
      thread.executionId = 'execution-2';
      thread.afterStep = 1;
      await thread.answer([message('b')]);
      expect(await read(thread)).toMatchObject({ runId: 'execution-2', ...standing });
    });

    it('is narrowed by input that joins the execution, in another run too, and keeps its name', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a', 'go', { context: { runId: 'r-1', traceId: 't-1' } })], {
        toolCalls: [call('c', 'look')],
      });
      await thread.runTool(1, 0);
      const next = thread.as('run-2', given().second);
      await next.open();
      next.afterStep = 1;
      next.executionId = 'execution-of-run-2';
      const joins = { runId: 'r-2', permissions: { 'mail.send': 'deny' }, budget: { maxSteps: 4 } };
      await next.answer([message('b', 'more', { context: joins })]);
      expect(await read(next)).toMatchObject({
        runId: 'r-1',
        traceId: 't-1',
        permissions: { 'mail.send': 'deny' },
        budget: { maxSteps: 4 },
      });
    });

    it('is found by its run, session and trace', async () => {
      const { store } = given();
      const [runId, sessionId, traceId] = [randomUUID(), randomUUID(), randomUUID()];
      const [one, other] = [await openThread(store), await openThread(store)];
      await one.answer([message('a', 'go', { context: { runId, sessionId, traceId } })]);
      await other.answer([message('a', 'go', { context: { sessionId } })]);
      const ids = async (wanted: Parameters<typeof store.executions.list>[0]) =>
        (await store.executions.list(wanted)).map(({ threadId }) => threadId);
      expect(await ids({ runId })).toEqual([one.id]);
      expect(await ids({ traceId })).toEqual([one.id]);
      expect(await ids({ sessionId })).toEqual([other.id, one.id]);
      expect(await ids({ sessionId, limit: 1 })).toEqual([other.id]);
      expect(await ids({ sessionId, traceId: 'another' })).toEqual([]);
      expect(await ids({ threadId: other.id })).toEqual([other.id]);
      expect(await store.executions.get(one.id, 'unknown')).toBeNull();
    });

    it('[PL-03] is passed to a child, which has run ids of its own', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const context = childContext(complete({ agentChain: ['gateway', 'helper'] }));
      const made = await create(parent, { child: { context } });
      if (made.kind !== 'created') throw new Error(made.kind);
      const child = new ThreadDriver(store, made.child.threadId, 'run-of-child');
      child.executionId = 'execution-of-child';
      await child.open({ agent: 'researcher', parentId: parent.id, rootId: parent.id });
      await child.beginCall();
      expect(await read(child)).toEqual(
        complete({
          runId: 'execution-of-child',
          parentRunId: 'run_123',
          agentChain: ['gateway', 'helper', 'researcher'],
        }),
      );
    });
  });
}
