/** The page's model resolution: a model is picked, and checked against a router's catalogue, which is served here. Needs nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  resolveChatModel,
  resolveRouterBaseUrl,
  validateChatModelId,
} from '../../src/faces/tangle/models.ts';

const router = createServer((_request, response) =>
  response.end(JSON.stringify({ data: [{ id: 'openai/gpt-4.1' }, { id: 'haiku', provider: 'anthropic' }] })),
);
await new Promise<void>((resolve) => router.listen(0, '127.0.0.1', resolve));
const env = {
  TANGLE_ROUTER_URL: `http://127.0.0.1:${(router.address() as AddressInfo).port}/v1`,
  DEFAULT_MODEL: 'anthropic/haiku',
};
try {
  const { source, model } = resolveChatModel(
    [
      { source: 'request', model: '  ' },
      { source: 'workspace', model: null },
      { source: 'env', model: env.DEFAULT_MODEL },
    ],
    { source: 'default', model: 'openai/gpt-4.1' },
  );
  console.log(`picked: ${model}, from ${source}`);
  for (const each of [model, 'house/own', 'openai/gpt-9', 'rm -rf']) {
    const checked = await validateChatModelId(each, {
      allowlist: ['house/own'],
      routerBaseUrl: resolveRouterBaseUrl(env),
    });
    console.log(`${each}: ${checked.succeeded ? 'accepted' : 'refused'}`);
  }
} finally {
  router.close();
}
