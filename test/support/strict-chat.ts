/** An OpenAI-compatible server that refuses what OpenAI refuses of tools, and otherwise plays a scripted model. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openaiCompatible } from '../../src/models/index.ts';
import type { ScriptedModel } from '../../src/testing/index.ts';
import { closeAfterTest } from './runtime.ts';
import { refuseSchema } from './tool-schema-rules.ts';

interface Tool {
  readonly function: { readonly name: string; readonly parameters: unknown };
}

export interface StrictChat {
  readonly model: ScriptedModel;
  /** Messages of all refusals. */
  readonly refusals: string[];
  /** Names of the tools of each request that was answered. */
  readonly offered: string[][];
}

/** `refuse`: why a tool is refused besides what its schema says. */
export async function strictChat(
  script: ScriptedModel,
  refuse: (tool: Tool['function']) => string | undefined = () => undefined,
): Promise<StrictChat> {
  const scripted = await script.serve();
  closeAfterTest(scripted.close);
  const refusals: string[] = [];
  const offered: string[][] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await request.toArray()).join('');
    const { tools = [] } = JSON.parse(body) as { tools?: Tool[] };
    const error = findRefusal(tools, refuse);
    if (error) {
      refusals.push(error.message);
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      return;
    }
    offered.push(tools.map((tool) => tool.function.name));
    const path = (request.url ?? '').replace(/^\/v1/, '');
    const headers = { 'content-type': 'application/json' };
    const answered = await fetch(`${scripted.url}${path}`, { method: 'POST', headers, body });
    response.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answered.arrayBuffer()));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(async () => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const provider = openaiCompatible({ baseUrl, apiKey: 'sk-test' });
  const model = Object.create(script, { provider: { value: provider } }) as ScriptedModel;
  return { model, refusals, offered };
}

function findRefusal(tools: readonly Tool[], refuse: (tool: Tool['function']) => string | undefined) {
  for (const [index, { function: tool }] of tools.entries()) {
    const why = refuseSchema(tool.parameters) ?? refuse(tool);
    if (why === undefined) continue;
    return {
      message: `Invalid schema for function '${tool.name}': ${why}`,
      type: 'invalid_request_error',
      param: `tools[${index}].function.parameters`,
      code: 'invalid_function_parameters',
    };
  }
  return undefined;
}
