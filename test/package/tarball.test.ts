/** The package as users get it. `npm run test:soak -- tarball` installs it into an empty project. */
import { layDependencies } from './laid-packages.ts';
import { describePublishedPackage } from './published-package.ts';

describePublishedPackage('where its dependencies are', layDependencies);
