/** Restate: its server calls this process and keeps the journal; its middleware journals each model call. */
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import { durableCalls } from '@restatedev/vercel-ai-middleware';
import { generateText, wrapLanguageModel } from 'ai';
import { effect, openLedger, say } from '../support/peers/double.ts';
import { effectTool, INSTRUCTIONS, model } from './ai-model.mjs';

const agent = restate.service({
  name: 'agent',
  handlers: {
    run: async (ctx, prompt) => {
      const { text } = await generateText({
        model: wrapLanguageModel({ model, middleware: durableCalls(ctx, { maxRetryAttempts: 3 }) }),
        instructions: INSTRUCTIONS,
        prompt,
        tools: { effect: effectTool((call) => ctx.run('effect', () => effect(call))) },
        stopWhen: [],
        maxRetries: 0,
        abortSignal: ctx.request().attemptCompletedSignal,
      });
      return text;
    },
  },
});

export async function start({ ledger, ports: [ingressPort, adminPort, , port] }) {
  await openLedger(ledger);
  await restate.serve({ services: [agent], port });
  const admin = `http://127.0.0.1:${adminPort}`;
  const asked = await fetch(`${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${port}`, force: true }),
  });
  if (!asked.ok) throw new Error(`Restate refused the deployment: ${await asked.text()}`);
  const ingress = clients.connect({ url: `http://127.0.0.1:${ingressPort}` });
  const ids = new Map();
  const begin = async (thread, prompt) => {
    const options = clients.rpc.sendOpts({ idempotencyKey: thread });
    ids.set(thread, await ingress.serviceSendClient({ name: 'agent' }).run(prompt, options));
  };
  return {
    run: (thread, steps) => begin(thread, say('go', steps, thread)),
    hang: (thread) => begin(thread, say('hang', 0, thread)),
    async cancel(thread) {
      const sent = ids.get(thread);
      await fetch(`${admin}/invocations/${sent.invocationId}/cancel`, { method: 'PATCH' });
      await ingress.result(sent).catch(() => undefined);
    },
  };
}
