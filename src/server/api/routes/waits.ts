/** Waits: what people are asked, and their answers. */
import { z } from '@hono/zod-openapi';
import type { WaitAnswer } from '../../../core/wait/answer.ts';
import { WAIT_OUTCOMES, WAIT_STATES } from '../../../core/wait/wait.ts';
import { requireThreadAccess } from '../own-list.ts';
import { type ApiRoute, type LookupInput, route } from '../route.ts';
import { answerBody, limit, order } from '../schema/given.ts';
import { waitSchema } from '../schema/records.ts';

const tag = 'Waits';
const params = z.object({ waitId: z.string() });
const findWait = ({ params: { waitId }, host }: LookupInput<typeof params, undefined>) =>
  host.client.getWait(waitId);

export const waitRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/waits',
    id: 'listWaits',
    scope: 'read',
    tag,
    summary: 'List waits for people, oldest first unless `order` is `desc`; default: the open ones',
    query: z.object({
      threadId: z.string().optional(),
      state: z.enum(WAIT_STATES).optional(),
      openedBefore: z.coerce.number().int().optional(),
      order,
      limit,
    }),
    answer: z.object({ waits: z.array(waitSchema) }),
    async handle({ query, caller, host }) {
      await requireThreadAccess(host.client, caller, query.threadId);
      return { waits: await host.client.listWaits(query) };
    },
  }),
  route({
    method: 'get',
    path: '/v1/waits/{waitId}',
    id: 'getWait',
    scope: 'read',
    tag,
    summary: 'Read a wait',
    params,
    answer: waitSchema,
    find: findWait,
    handle: ({ found }) => found,
  }),
  route({
    method: 'post',
    path: '/v1/waits/{waitId}/answer',
    id: 'answerWait',
    scope: 'answer',
    tag,
    summary: 'Answer a wait: the first answer counts; repeating the same answer is a harmless duplicate',
    params,
    body: answerBody,
    answer: z.object({ outcome: z.enum(WAIT_OUTCOMES) }),
    find: findWait,
    async handle({ found: { id }, body, caller, host }) {
      const { fingerprint, by = caller.name ?? undefined, ...answer } = body;
      const named = by === undefined ? answer : { ...answer, by };
      return host.client.answerWait(id, named as WaitAnswer, { fingerprint });
    },
  }),
];
