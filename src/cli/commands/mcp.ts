/**
 * `everthread mcp`: an MCP server over standard streams with a project's agents as its tools, for clients that start
 * their servers themselves.
 */
import { OPERATOR } from '../../server/api/caller.ts';
import { command, TASK_QUEUE } from '../command.ts';
import { withInterruption } from '../interruption.ts';
import { note } from '../output/output.ts';

export const mcp = command({
  description:
    'Speaks the Model Context Protocol on its standard streams until its input ends: each agent of the project is a tool (docs/mcp-server.md). ' +
    'Workers run elsewhere, or in "everthread dev".',
  options: TASK_QUEUE,
  help: `
Configuration of a client:
  { "mcpServers": { "agents": { "command": "npx", "args": ["everthread", "mcp", "--project", "/path/of/the/project"] } } }
"everthread api" serves the same over HTTP, at /mcp.`,
  async run({ project, taskQueue }) {
    return withInterruption(async (interruption) => {
      const [{ openProjectClient }, { serveStdio }, { createAgentServer }, { OpenForms }, { errorMessage }] =
        await Promise.all([
          import('../serve/project-api.ts'),
          import('@modelcontextprotocol/server/stdio'),
          import('../../server/mcp/agent-server.ts'),
          import('../../server/mcp/asked-forms.ts'),
          import('../../core/value/error.ts'),
        ]);
      const { client, agents, close } = await openProjectClient({ project, taskQueue });
      const logFailure = (error: unknown) => note(`A request failed: ${errorMessage(error)}`);
      const enter = () => ({ signal: interruption.signal, leave() {} });
      const host = { client, agents, caller: OPERATOR, hearsCancel: true, enter, onError: logFailure };
      const forms = new OpenForms();
      const served = serveStdio(() => createAgentServer({ ...host, forms }), { onerror: logFailure });
      try {
        interruption.begin();
        await waitForEnd(interruption.signal);
        await served.close();
      } finally {
        await close();
      }
      return 0;
    }, 'Stopping: agents that were called continue');
  },
});

/** Resolves when the client closes standard input, or when the signal aborts. */
function waitForEnd(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
