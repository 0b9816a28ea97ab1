/** A scripted model that keeps what it was asked. */
import type { ProviderMessage, ProviderRequest } from '../../src/core/message/provider.ts';
import { type says, scriptedModel } from '../../src/testing/index.ts';

export function recordedModel(answer: (request: ProviderRequest) => ReturnType<typeof says>) {
  const requests: (readonly ProviderMessage[])[] = [];
  const model = scriptedModel((request) => {
    requests.push(request.messages);
    return answer(request);
  });
  const pictures = () =>
    (requests.at(-1) ?? []).flatMap(({ content }) =>
      Array.isArray(content) ? content.filter(({ type }) => type === 'image') : [],
    );
  return { model, pictures, text: () => JSON.stringify(requests.at(-1)), count: () => requests.length };
}
