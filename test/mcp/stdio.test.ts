/**
 * `everthread mcp`, as programs that use MCP servers start it, with the unmodified client of the SDK, in both versions
 * of the protocol.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type CliProject, cliProject, HELPER, seen } from '../cli/support.ts';
import { eventually } from '../support/eventually.ts';

const AGENTS = {
  ...HELPER,
  'agents/agents/clerk.ts': `
import { defineAgent } from 'everthread';
export default defineAgent({ name: 'clerk', description: 'Books for a customer.', sideA: { prompt: 'desk' } });
`,
  'agents/prompts/desk.ts': `
import { definePrompt } from 'everthread';
import { z } from 'zod';
export default definePrompt({
  name: 'desk', toolDescription: 'Books.', prompt: 'You book for {{customer}}.', model: 'booking', tools: ['book'],
  requiredSchema: z.object({ customer: z.string().describe('Who it is for.'), seats: z.number().default(2) }),
});
`,
  'agents/tools/book.ts': `
import { defineTool } from 'everthread';
export default defineTool({
  description: 'Books.', confirm: () => 'Book it?',
  execute: async (state) => ({ status: 'success', result: 'booked for ' + state.arguments.customer + ', seats ' + state.arguments.seats }),
});
`,
  'agents/models/booking.ts': `
import { defineModel } from 'everthread';
import { calls, says, scriptedModel } from 'everthread/testing';
const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1);
  return last.role === 'tool' ? says(messages[0].content + ' It says: ' + last.content) : calls('book', {});
});
export default defineModel({ name: 'booking', provider: model.provider, model: 'scripted-1' });
`,
};

describe('everthread mcp', () => {
  let project: CliProject;

  beforeAll(async () => {
    project = await cliProject(AGENTS);
    await seen(project.start(['worker']), 'Worker ready');
  });
  afterAll(async () => {
    for (const connecting of connected.values()) await (await connecting).client.close();
    await project?.remove();
  });

  const connected = new Map<string, ReturnType<typeof open>>();
  /** One process for each version of the protocol. */
  function connect(mode: 'auto' | 'legacy') {
    const known = connected.get(mode) ?? open(mode);
    connected.set(mode, known);
    return known;
  }

  async function open(mode: 'auto' | 'legacy') {
    const capabilities = { elicitation: { form: {} } };
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
    const forms: string[] = [];
    client.setRequestHandler('elicitation/create', ({ params: { message } }) => {
      forms.push(message);
      return { action: 'accept', content: { approved: true } };
    });
    const transport = new StdioClientTransport({ ...project.command(['mcp']), stderr: 'pipe' });
    await client.connect(transport);
    // The client drops progress that it reads together with the result.
    const words: unknown[] = [];
    const receive = transport.onmessage;
    transport.onmessage = (message) => {
      if ('method' in message && message.method === 'notifications/progress')
        words.push(message.params?.message);
      receive?.(message);
    };
    return { client, forms, words, pid: () => transport.pid };
  }

  const threads = async (status: string) => {
    const { stdout } = await project.run(['threads', 'list', '--status', status, '--json']);
    return (JSON.parse(stdout) as { threads: { id: string; agent: string }[] }).threads;
  };

  it.each(['auto', 'legacy'] as const)(
    'lists agents with their arguments, reports progress, and asks the person: for a client that speaks %s',
    async (mode) => {
      const { client, forms, words } = await connect(mode);
      const { tools } = await client.listTools();
      const clerk = tools.find(({ name }) => name === 'clerk');
      expect(Object.keys(clerk?.inputSchema.properties ?? {})).toEqual([
        'message',
        'customer',
        'seats',
        'thread',
        'execution',
      ]);
      const { structuredContent } = await client.callTool(
        { name: 'clerk', arguments: { customer: 'Ada' } },
        { onprogress: () => {} },
      );
      expect(structuredContent).toMatchObject({
        status: 'answered',
        text: 'You book for Ada. It says: booked for Ada, seats 2',
      });
      expect(forms).toEqual(['Book it?']);
      // The client of the later version reports its rounds as well.
      expect(words.filter((word) => !/^Fulfilling/.test(String(word)))).toEqual([
        'thinking',
        'running book',
        'thinking',
      ]);
      const wrong = await client.callTool({ name: 'clerk', arguments: { message: 'go' } });
      expect(wrong).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/^InvalidValue: .*customer/) }],
      });
    },
  );

  it('cancels the execution of a cancelled call, and continues to serve', async () => {
    const { client } = await connect('legacy');
    const cancel = new AbortController();
    const call = client.callTool(
      { name: 'helper', arguments: { message: 'hang' } },
      { signal: cancel.signal, onprogress: () => cancel.abort() },
    );
    await expect(call).rejects.toThrow();
    await eventually('the end of the execution', async () => (await threads('stopped')).length === 1);
    const { structuredContent } = await client.callTool({ name: 'helper', arguments: { message: 'hi' } });
    expect(structuredContent).toMatchObject({ status: 'answered', text: 'You said: hi' });
  });

  it('ends when its client disconnects, and the called execution continues', async () => {
    const { client, pid } = await connect('legacy');
    const told = Promise.withResolvers<void>();
    const call = client.callTool(
      { name: 'helper', arguments: { message: 'hang' } },
      { onprogress: () => told.resolve() },
    );
    call.catch(() => undefined);
    await told.promise;
    const server = pid() as number;
    await client.close();
    await eventually('the end of the process', () => !isAlive(server));
    expect(await threads('running')).toHaveLength(1);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
