/**
 * An MCP server of the current protocol version, over standard streams, or with a second argument over HTTP: its tools
 * count, fail, ask, and return what they were started with.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { createMcpHandler, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , journal, http] = process.argv;
const words =
  journal && existsSync(`${journal}.words`) ? readFileSync(`${journal}.words`, 'utf8') : 'Adds two numbers.';
const more = journal && existsSync(`${journal}.more`) ? { c: { type: 'number' } } : {};
const note = (line) => journal && appendFileSync(journal, `${line}\n`);

function build() {
  const server = new McpServer({ name: 'plain', version: '1' }, { capabilities: { tools: {} } });
  const schema = (properties, required = []) => fromJsonSchema({ type: 'object', properties, required });
  const text = (value) => ({ content: [{ type: 'text', text: value }] });
  server.registerTool(
    'add',
    {
      description: words,
      inputSchema: schema({ a: { type: 'number' }, b: { type: 'number' }, ...more }, ['a', 'b']),
    },
    ({ a, b }) => {
      note(`add ${a} ${b}`);
      return text(String(a + b));
    },
  );
  for (const name of ['hold', 'hold_again'])
    server.registerTool(
      name,
      { description: 'Holds until it is let go.', inputSchema: schema({}) },
      async () => {
        note(name);
        while (!existsSync(`${journal}.release`)) await delay(20);
        return text('let go');
      },
    );
  server.registerTool('refuse', { description: 'Refuses.', inputSchema: schema({}) }, () => ({
    ...text('I will not.'),
    isError: true,
  }));
  server.registerTool('meta', { description: 'Tells its metadata.', inputSchema: schema({}) }, (_, context) =>
    text(JSON.stringify(context.mcpReq._meta ?? {})),
  );
  server.registerTool('environment', { description: 'Tells its environment.', inputSchema: schema({}) }, () =>
    text(JSON.stringify(process.env)),
  );
  server.registerTool(
    'book',
    { description: 'Books a table.', inputSchema: schema({ seats: { type: 'number' } }) },
    ({ seats }, context) => {
      const { inputResponses, requestState } = context.mcpReq;
      const answer = inputResponses?.name;
      note(`book ${seats} ${answer ? answer.action : 'asked'}`);
      if (!answer)
        return inputRequired({
          inputRequests: {
            name: inputRequired.elicit({
              message: 'For whom?',
              requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
            }),
          },
          requestState: `seats ${seats}`,
        });
      if (answer.action !== 'accept') return text('not booked');
      return text(`booked for ${answer.content.name}, ${requestState()}`);
    },
  );
  return server;
}

if (http === undefined) {
  note(`started ${process.pid}`);
  serveStdio(build);
} else {
  const { fetch } = createMcpHandler(build, { responseMode: 'sse' });
  const options = { fetch: (request) => fetch(request), hostname: '127.0.0.1', port: 0 };
  serve(options, ({ port }) => note(`listens ${port}`));
}
