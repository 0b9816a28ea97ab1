/** Tests are ES modules in TypeScript, which Node itself runs (`test/runner`); `npm run typecheck` checks them. */
export default {
  runner: '<rootDir>/test/runner/index.mjs',
  transform: {},
  // The long forms take minutes to an hour: `npm run test:soak`.
  testMatch: [
    process.env.EVERTHREAD_SOAK === '1' ? '<rootDir>/test/**/*.soak.ts' : '<rootDir>/test/**/*.test.ts',
  ],
  // Recording histories is a deed, not a check: `npm run record`.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.EVERTHREAD_RECORD === '1' ? [] : ['/record\\.test\\.ts$']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  reporters: ['default', '<rootDir>/scripts/note-test-file.mjs'],
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testTimeout: process.env.EVERTHREAD_SOAK === '1' ? 2 * 60 * 60_000 : 300_000,
};
