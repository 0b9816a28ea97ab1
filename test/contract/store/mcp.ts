/** The lists of tools that MCP servers have returned. */
import { describe, expect, it } from '@jest/globals';
import type { McpListedTool } from '../../../src/store/mcp/mcp-record.ts';
import type { Stores } from '../store-contract.ts';
import { openThread } from '../thread-driver.ts';

const tool = (name: string, digest = 'a'): McpListedTool => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object' },
  hints: { readOnlyHint: true },
  digest,
});

export function registerMcp(given: () => Stores): void {
  describe('tool lists of MCP servers', () => {
    it('stay the same within an execution; the next one is told the changes', async () => {
      const { store, second } = given();
      const { id: threadId } = await openThread(store);
      const keep = (executionId: string, ...tools: McpListedTool[]) =>
        store.mcp.save({ threadId, server: 'files', executionId, step: 1, told: { tools } });
      expect(await keep('one', tool('read'), tool('write'))).toMatchObject({ code: null });
      expect((await keep('one', tool('read', 'b'))).tools).toEqual([tool('read'), tool('write')]);
      expect(await second.mcp.list(threadId, 'one')).toMatchObject([{ server: 'files', tools: [{}, {}] }]);
      expect(await second.mcp.list(threadId, 'two')).toEqual([]);
      await keep('two', tool('read', 'b'), tool('write'));
      const told = (await store.events.read(threadId, 0)).filter(({ type }) => type === 'mcp.listed');
      expect(told.map(({ data }) => data)).toEqual([
        { server: 'files', tools: ['read', 'write'], changed: [] },
        { server: 'files', tools: ['read', 'write'], changed: ['read'] },
      ]);
    });

    it('that fail are reported once per reason, may succeed later, and are compared with the last list', async () => {
      const { store } = given();
      const { id: threadId } = await openThread(store);
      const place = { threadId, server: 'files', step: 1 };
      const fail = (executionId: string, code: string) =>
        store.mcp.save({ ...place, executionId, told: { code, error: 'gone' } });
      await store.mcp.save({ ...place, executionId: 'one', told: { tools: [tool('read')] } });
      expect(await fail('two', 'McpTimeout')).toMatchObject({ tools: null, code: 'McpTimeout' });
      await fail('two', 'McpTimeout');
      await fail('two', 'McpInvalid');
      await store.mcp.save({ ...place, executionId: 'two', told: { tools: [tool('read', 'b')] } });
      expect(await fail('two', 'McpTimeout')).toMatchObject({ tools: [{ digest: 'b' }], code: null });
      const log = (await store.events.read(threadId, 0)).filter(({ type }) => type.startsWith('mcp.'));
      expect(log).toMatchObject([
        { type: 'mcp.listed' },
        { type: 'mcp.failed', data: { code: 'McpTimeout' } },
        { type: 'mcp.failed', data: { code: 'McpInvalid' } },
        { type: 'mcp.listed', data: { changed: ['read'] } },
      ]);
    });
  });
}
