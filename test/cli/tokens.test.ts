/** `everthread tokens …`: made, listed, revoked, without a server. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliProject, cliProject, HELPER } from './support.ts';

describe('everthread tokens', () => {
  let project: CliProject;
  beforeAll(async () => {
    project = await cliProject(HELPER);
  });
  afterAll(() => project.remove());
  const run = (...args: string[]) => project.run(['tokens', ...args]);

  it('create shows the secret once; list and revoke use the token’s id', async () => {
    const made = await run(
      'create',
      '--name',
      'web',
      '--scope',
      'read',
      'write',
      '--user',
      'ada',
      '--days',
      '2',
    );
    expect(made.code).toBe(0);
    const secret = made.stdout.trim();
    expect(secret).toMatch(/^et_[\w-]{43}$/);
    const listed = await run('list', '--json');
    expect(listed.stdout).not.toContain(secret);
    const [token] = JSON.parse(listed.stdout).tokens;
    expect(token).toMatchObject({ name: 'web', scopes: ['read', 'write'], userId: 'ada', revokedAt: null });
    expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(2 * 86_400_000);
    expect((await run('list')).stdout).toContain('read write');
    const revoked = await run('revoke', token.id, '--json');
    expect(JSON.parse(revoked.stdout).token).toMatchObject({
      id: token.id,
      revokedAt: expect.stringMatching(/Z$/),
    });
    expect((await run('revoke', 'nowhere')).code).toBe(3);
    const wrong = await run('create', '--scope', 'wirte');
    expect({ code: wrong.code, stderr: wrong.stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('read, write, answer, admin'),
    });
  });
});
