/** Hooks, effects and endpoints as parts of a project: where their files are, what names them, what refers to them. */
import {
  formatProblems,
  loadProject,
  type RegistryInput,
  registryFrom,
} from '../../src/definitions/index.ts';
import { defineEffect, defineHook, defineThreadEndpoint } from '../../src/index.ts';
import { agent, problemsOf, project, prompt, tool } from './sample.ts';
import { SOUND, type TemporaryProject, temporaryProject } from './temporary-project.ts';

const problems = (parts: RegistryInput) => problemsOf(() => registryFrom(project(parts)));
const hook = (id: string) => defineHook({ hook: 'after_thread_created', id, execute: () => undefined });
const effect = () => defineEffect('Reminds.', () => undefined);
const endpoint = () => defineThreadEndpoint(() => new Response('yes'));

const HOOK = `
import { defineHook } from 'everthread';
export default defineHook({ hook: 'filter_messages', id: 'recent', execute: (_state, messages) => messages.slice(-5) });
`;
const EFFECT = `
import { defineEffect } from 'everthread';
import { z } from 'zod';
export default defineEffect('Reminds.', z.object({ text: z.string() }), async (state, { text }) => {
  await state.queueMessage({ content: text });
});
`;
const ENDPOINT = `
import { defineThreadEndpoint } from 'everthread';
export default defineThreadEndpoint(async (_request, state) => Response.json({ id: state.threadId }));
`;

const projects: TemporaryProject[] = [];
afterAll(() => {
  for (const each of projects) each.remove();
});
const load = (files: Readonly<Record<string, string>>) => {
  const made = temporaryProject({ ...SOUND, ...files });
  projects.push(made);
  return loadProject(made.folder);
};

describe('[definitions 2.1] files of hooks, effects and endpoints', () => {
  it('are found, and named by their id, their file and their path', async () => {
    const {
      registry,
      problems: found,
      warnings,
    } = await load({
      'agents/agents/helper.ts': (SOUND['agents/agents/helper.ts'] ?? '').replace(
        ' } });',
        " }, hooks: ['recent'] });",
      ),
      'agents/hooks/anything.ts': HOOK,
      'agents/effects/send-reminder.ts': EFFECT,
      'agents/api/index.ts': ENDPOINT,
      'agents/api/orders/[id].post.ts': ENDPOINT,
      'agents/api/files/[*].mts': ENDPOINT,
    });
    expect(found).toEqual([]);
    expect(warnings).toEqual([]);
    expect([...registry.hooks.keys()]).toEqual(['recent']);
    expect(registry.agents.get('helper')?.hooks).toEqual(['recent']);
    expect(registry.effects.get('send-reminder')).toMatchObject({
      name: 'send-reminder',
      description: 'Reminds.',
    });
    expect([...registry.endpoints.keys()]).toEqual(['files/[*]', 'index', 'orders/[id].post']);
    expect(registry.endpoints.get('orders/[id].post')?.name).toBe('orders/[id].post');
  });

  it('exclude helpers, notes, tests and the index of hooks; only api has folders', async () => {
    const broken = 'this is not TypeScript';
    const { registry, problems: found } = await load({
      'agents/hooks/index.ts': broken,
      'agents/hooks/_shared.ts': broken,
      'agents/hooks/deeper/other.ts': broken,
      'agents/effects/AGENTS.ts': broken,
      'agents/effects/deeper/other.ts': broken,
      'agents/api/_shared.ts': broken,
      'agents/api/_lib/orders.ts': broken,
      'agents/api/.cache/orders.ts': broken,
      'agents/api/orders/_shared.ts': broken,
      'agents/api/orders/list.test.ts': broken,
      'agents/api/orders/CLAUDE.md': broken,
    });
    expect(found).toEqual([]);
    expect(registry.endpoints.size + registry.hooks.size + registry.effects.size).toBe(0);
  });

  it('are reported in a wrong folder', async () => {
    const { problems: found, warnings } = await load({
      'agents/tools/reminder.ts': EFFECT,
      'agents/hooks/orders.ts': ENDPOINT,
      'agents/api/deep/recent.ts': HOOK,
      'agents/effects/nothing.ts': 'export default 1;',
      'agents/api/nothing.ts': '',
    });
    expect(found).toEqual([
      { file: 'agents/tools/reminder.ts', message: 'contains an effect: move it to agents/effects/' },
      { file: 'agents/hooks/orders.ts', message: 'contains an endpoint: move it to agents/api/' },
      { file: 'agents/api/deep/recent.ts', message: 'contains a hook: move it to agents/hooks/' },
      {
        file: 'agents/api/nothing.ts',
        message: expect.stringMatching(/it has no default export\. .*defineThreadEndpoint\(/),
      },
    ]);
    expect(warnings).toMatchObject([
      {
        file: 'agents/effects/nothing.ts',
        message: expect.stringContaining('its default export is not a definition'),
      },
    ]);
  });

  it('report invalid names, and routes answered by two files', async () => {
    const { problems: found } = await load({
      'agents/effects/send.reminder.ts': EFFECT,
      'agents/hooks/one.ts': HOOK,
      'agents/hooks/two.ts': HOOK,
      'agents/api/orders/[id].ts': ENDPOINT,
      'agents/api/orders/[name].get.ts': ENDPOINT,
      'agents/api/orders/[*]/lines.ts': ENDPOINT,
    });
    expect(formatProblems(found)).toBe(`agents/hooks/two.ts
  - id 'recent' is already the id of the hook in agents/hooks/one.ts

agents/api/orders/[name].get.ts
  - answers the same requests as the endpoint in agents/api/orders/[id].ts

agents/effects/send.reminder.ts
  - an effect is named by its file, and 'send.reminder' is not a valid name: use letters, digits, _ and -

agents/api/orders/[*]/lines.ts
  - is not a valid route: its path has [*] before its last segment`);
  });

  it('warn about misspelt folder names', async () => {
    const { warnings } = await load({ 'agents/hook/recent.ts': HOOK, 'agents/effect/x.ts': EFFECT });
    expect(warnings).toEqual([
      { file: 'agents/effect/', message: "is not read. Did you mean 'effects'?" },
      { file: 'agents/hook/', message: "is not read. Did you mean 'hooks'?" },
    ]);
  });

  it('accept references to a hook whose file is broken', async () => {
    const { problems: found } = await load({
      'agents/agents/helper.ts': (SOUND['agents/agents/helper.ts'] ?? '').replace(
        ' } });',
        " }, hooks: ['recent'] });",
      ),
      'agents/hooks/x.ts': HOOK.replace("'filter_messages'", "'filter_message' as never"),
    });
    expect(found).toEqual([
      { file: 'agents/hooks/x.ts', line: 3, field: 'hook', message: expect.stringContaining('Did you mean') },
    ]);
  });
});

describe('[definitions 2.1] references to hooks', () => {
  it.each(['agents', 'prompts'] as const)('of %s must resolve', (place) => {
    const hooks = ['log_it', 'log_tis'];
    const parts = { agents: [agent({ hooks })], prompts: [prompt({ hooks })] };
    const [name] = Object.values(parts[place]).map((each) => each.name);
    expect(problems({ hooks: [hook('log_it'), hook('log_this')], [place]: parts[place] })).toEqual([
      `${place}.${name}.hooks[1]: names a hook 'log_tis', which does not exist. Did you mean 'log_this'?`,
    ]);
  });
});

describe('[definitions 2.1] names of hooks, effects and endpoints', () => {
  it('are separate from each other and from those of tools, prompts and agents', () => {
    const parts = {
      tools: { remind: tool() },
      hooks: [hook('remind'), hook('talk')],
      effects: { remind: effect(), talk: effect() },
      endpoints: { remind: endpoint(), talk: endpoint() },
    };
    expect(problems(parts)).toEqual([]);
    const registry = registryFrom(project(parts));
    expect(registry.effects.get('remind')).toMatchObject({ kind: 'effect', name: 'remind' });
    expect(registry.endpoints.get('talk')).toMatchObject({ kind: 'endpoint', name: 'talk' });
  });

  it('belong to one definition', () => {
    expect(problems({ hooks: [hook('log_it'), hook('log_it')] })).toEqual([
      "hooks.log_it.id: 'log_it' is already the id of the hook in hooks.log_it",
    ]);
  });

  it.each(['a', 'sendReminder', 'send-reminder', '1st_reminder'])('may be %s for an effect', (name) => {
    expect(problems({ effects: { [name]: effect() } })).toEqual([]);
  });

  it.each(['send reminder', 'send.reminder', ''])('may not be %j for an effect', (name) => {
    expect(problems({ effects: { [name]: effect() } })).toEqual([
      expect.stringContaining('is not a valid name'),
    ]);
  });

  it.each([
    [['a', 'a.get'], 'a.get', 'a'],
    [['a', 'a/index'], 'a/index', 'a'],
    [['a/[id]', 'a/[name]'], 'a/[name]', 'a/[id]'],
    [['a/[*].POST', 'a/[*].post'], 'a/[*].post', 'a/[*].POST'],
  ])('of endpoints are routes, each of one file: not %j', (names, second, first) => {
    const endpoints = Object.fromEntries(names.map((name) => [name, endpoint()]));
    expect(problems({ endpoints })).toEqual([
      `endpoints.${second}: answers the same requests as the endpoint in endpoints.${first}`,
    ]);
  });

  it('of endpoints may share a path with another method, or a shape with another literal', () => {
    const names = ['a/[id]', 'a/[name].post', 'a/[*]', 'b/[id]', 'index', 'index.post'];
    expect(problems({ endpoints: Object.fromEntries(names.map((name) => [name, endpoint()])) })).toEqual([]);
  });
});
