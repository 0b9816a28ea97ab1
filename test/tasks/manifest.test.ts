/** Manifests: checked at once, identified by their content, stored with each run. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  defineAgent,
  defineManifest,
  defineModel,
  definePrompt,
  defineTask,
  isDefinitionError,
  type ManifestInput,
  registryFrom,
  resolveSubject,
} from '../../src/definitions/index.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

function repository(): string {
  const root = mkdtempSync(join(tmpdir(), 'manifest-'));
  for (const folder of ['prompts', 'tools']) mkdirSync(join(root, folder));
  writeFileSync(join(root, 'prompts', 'main.md'), 'Be brief.');
  writeFileSync(join(root, 'rubric.json'), '{}');
  return root;
}

const dimension = (weight: number) => ({ id: 'good', weight, score: () => 1 });

function define(repoRoot: string, fields: Partial<ManifestInput> = {}) {
  const surfaces = { prompt: 'prompts', tools: 'tools', rubric: 'rubric.json' };
  return defineManifest({
    id: 'triage',
    repoRoot,
    surfaces,
    rubric: { dimensions: [dimension(1)] },
    run: 'triage',
    ...fields,
  });
}

function problemOf(work: () => unknown): Error & { agentId?: string; issues?: unknown } {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('It was taken.');
}

describe('a manifest', () => {
  it('[TG-01] is accepted if its surfaces exist; omitted ones are no problem', () => {
    const root = repository();
    expect(define(root)).toMatchObject({
      id: 'triage',
      run: 'triage',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(define(root, { surfaces: { prompt: 'prompts' } }).document.surfaces).toEqual({
      prompt: { path: 'prompts', files: { 'main.md': expect.any(String) } },
    });
    const bad = problemOf(() =>
      define(root, {
        surfaces: { prompt: 'nowhere', tools: 'rubric.json', rubric: 'tools', skills: '../..' },
      }),
    );
    expect(isDefinitionError(bad)).toBe(true);
    expect(bad.agentId).toBe('triage');
    expect(bad.issues).toEqual([
      { surface: 'prompt', path: 'nowhere', reason: 'missing' },
      { surface: 'tools', path: 'rubric.json', reason: 'not-directory' },
      { surface: 'rubric', path: 'tools', reason: 'not-file' },
      { surface: 'skills', path: '../..', reason: 'outside' },
    ]);
    expect(bad.message).toMatch(/nowhere[\s\S]*rubric\.json/);
    expect(
      problemOf(() => define(root, { rubric: { dimensions: [dimension(4), dimension(6)] } })).message,
    ).toContain('sum to 10.000');
    const both = problemOf(() =>
      define(root, { surfaces: { prompt: 'nowhere' }, rubric: { dimensions: [dimension(10)] } }),
    );
    expect(both.message).toMatch(/nowhere[\s\S]*sum to 10\.000/);
    expect(problemOf(() => define(root, { id: ' ' })).message).toContain('blank');
  });

  it('[TG-02] resolves a subject within its surface only', () => {
    const root = repository();
    const { repoRoot, surfaces } = define(root);
    expect(resolveSubject({ repoRoot, surfaces }, 'prompt', 'main')).toBe(join(root, 'prompts', 'main.md'));
    expect(resolveSubject({ repoRoot, surfaces }, 'tools', 'new')).toBe(join(root, 'tools', 'new.md'));
    for (const subject of ['../secret', '/etc/passwd', 'a\0b', '', '.', 'x/../../y'])
      expect([subject, resolveSubject({ repoRoot, surfaces }, 'prompt', subject)]).toEqual([subject, null]);
    expect(resolveSubject({ repoRoot, surfaces }, 'skills', 'main')).toBeNull();
  });

  it('changes with any file of a surface, and is stored with each run that it names', async () => {
    const root = repository();
    const before = define(root);
    expect(define(root).hash).toBe(before.hash);
    const triage = defineTask({
      observe: () => 'x',
      decide: () => ({ kind: 'stop', pass: true, reason: 'done', outcome: 'good' }),
    });
    const rubric = {
      dimensions: [
        { id: 'good', weight: 0.75, score: ({ output }: { output: unknown }) => (output === 'good' ? 1 : 0) },
        { id: 'quick', weight: 0.25, score: () => 0 },
      ],
    };
    const first = define(root, { rubric });
    let manifest = first;
    const project = () => registryFrom({ tasks: { triage }, manifests: { main: manifest } });
    let registry = project();
    const { client, store } = await testRuntime({ registry: () => registry });
    const { id } = await client.tasks.start({ task: 'triage', scenarioId: 's1' });
    expect(await client.tasks.wait(id)).toMatchObject({
      manifest: first.hash,
      records: [
        { scenarioId: 's1', kind: 'rubric', agentId: 'triage', scores: { good: 1, quick: 0 }, score: 0.75 },
      ],
    });
    writeFileSync(join(root, 'prompts', 'main.md'), 'Be very brief.');
    manifest = define(root, { rubric });
    registry = project();
    expect(manifest.hash).not.toBe(first.hash);
    const second = await client.tasks.start({ task: 'triage' });
    expect(await client.tasks.wait(second.id)).toMatchObject({ manifest: manifest.hash });
    const kept = await store.tasks.getManifest(first.hash.slice(0, 12));
    expect(kept).toEqual({ hash: first.hash, document: first.document });
  });

  it('is logged and stored by each execution of its agent: later executions get a newer one', async () => {
    const root = repository();
    const first = define(root, { run: 'helper' });
    let manifest = first;
    const model = scriptedModel([says('one'), says('two')]);
    const { agents, prompts, models } = helperInput(model);
    const project = () => registryFrom({ agents, prompts, models, manifests: { main: manifest } });
    let registry = project();
    const runtime = await testRuntime({ model, registry: () => registry });
    const threadId = await runtime.start('go');
    writeFileSync(join(root, 'prompts', 'main.md'), 'Be very brief.');
    manifest = define(root, { run: 'helper' });
    registry = project();
    await runtime.client.queueMessage(threadId, { content: 'again' });
    await runtime.client.waitForIdle(threadId);
    const log = await runtime.store.events.read(threadId, 0);
    const told = log.flatMap(({ type, data }) => (type === 'execution.started' ? [data.manifest] : []));
    expect(told).toEqual([first.hash, manifest.hash]);
    for (const { hash, document } of [first, manifest])
      expect(await runtime.store.tasks.getManifest(hash)).toEqual({ hash, document });
  });
});

function helperInput(model: ReturnType<typeof scriptedModel>) {
  return {
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' } })],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'helps',
        prompt: 'Help.',
        model: 'm',
        includeChat: true,
      }),
    ],
    models: [defineModel({ name: 'm', provider: model.provider, model: 'm' })],
  };
}
