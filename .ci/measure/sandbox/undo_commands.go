package sandbox

// undoCommands are what [Undo] runs in its repository.
var undoCommands = []string{
	// one file
	`echo more >> a.txt`, `echo new > a.txt`, `: > a.txt`, `truncate -s 3 a.txt`, `printf x | dd of=a.txt bs=1 conv=notrunc status=none`, `echo made > made.txt`, `touch made; chmod 755 made`,
	`rm a.txt`, `rm -f a.txt b.txt empty`, `mv a.txt c.txt`, `mv a.txt b.txt`, `cp a.txt b.txt`, `cp a.txt c.txt`, `ln a.txt hard`, `ln a.txt hard; echo more >> hard`,
	`chmod 755 a.txt`, `chmod 000 a.txt`, `chmod -R go-rwx src/1`, `mv a.txt tmp && echo x > a.txt && cat tmp >> a.txt && rm tmp`, `mv a.txt c.txt; echo more >> c.txt; rm c.txt`,
	`rm "naïve name.txt"; echo y > "new name"`, `printf 'n' > $'new\nline'`, `rm a.txt; mkdir a.txt; echo in > a.txt/f`, `echo x > made; rm made; echo y > made`, `exec 3<>a.txt; echo over >&3`, `tee a.txt b.txt < empty`, `cp --reflink=auto a.txt b.txt; mv b.txt a.txt`, `install -m 700 a.txt b.txt`, `mktemp -p . XXXXXX`,
	// links
	`rm link`, `ln -sf b.txt link`, `echo through >> link`, `rm dangling; ln -s a.txt dangling`, `mv link other`, `echo made > dangling`,
	// directories
	`mkdir -p x/y/z; echo f > x/y/z/f`, `rmdir void`, `rm -rf sub`, `mv sub bus`, `mv sub bus; echo more >> bus/deep/er/f`, `mv sub bus; rm -rf bus`, `mv sub void/`, `echo more >> sub/deep/er/f; mv sub bus; echo again >> bus/deep/er/f`,
	`cp -r sub copy`, `cp -a src/1 src/new; rm -rf src/1; mv src/new src/1; echo more >> src/1/f1.txt`, `mkdir made; echo f > made/f; mv made/f .; rmdir made`, `mkdir made; echo f > made/f; mv made final`, `mv src/1 /tmp/x; mv /tmp/x src/moved`, `rm -rf src`, `rm -rf src sub *.txt`,
	`find . -name 'f1*.txt' -delete`, `find src -type f -exec rm {} +`, `chmod 700 void sub`,
	// editors of streams
	`sed -i s/line/LINE/ src/*/*.txt`, `sed -i.bak s/two/2/ a.txt b.txt`, `perl -pi -e 's/one/1/' a.txt`, `sort -o a.txt -r a.txt`, `for f in src/2/*; do tr a-z A-Z < $f > $f.up && mv $f.up $f; done`,
	// archives and builds
	`tar cf s.tar src/1 && rm -rf src/1 && tar xf s.tar`, `tar czf s.tgz sub; rm -rf sub`, `make -s`, `make -s && rm out.txt a.txt`, `gzip -f src/3/*.txt`, `split -n 3 a.txt part.`,
	// languages
	`python3 -c "import shutil,os; shutil.rmtree('src/1'); os.rename('a.txt','z.txt'); open('b.txt','a').write('py')"`, `python3 -c "open('a.txt','r+').write('XX')"`, `python3 -c "import os; os.replace('b.txt','a.txt')"`, `python3 -c "import mmap; f=open('a.txt','r+'); m=mmap.mmap(f.fileno(),0); m[0:3]=b'ONE'; m.flush()"`,
	// git
	`git checkout -q side`, `git checkout -q v1 && echo x > made`, `git reset -q --hard HEAD~2`, `git clean -fdq`, `git clean -fdxq -e build`, `git stash -q -u`, `git rm -q a.txt`, `git mv a.txt c.txt`, `git mv sub bus`, `git add -A && git commit -qm more`, `git commit -q --amend -m other`,
	`git gc -q --prune=now`, `git repack -adq`, `git rebase -q side~0 main 2>&1; git status -s | head -3`, `git checkout -q side && echo s > side.txt && git add side.txt && git commit -qm s && git merge -q main -m merged`, `git branch -D side -q`, `git tag -d v1`, `git worktree add -q wt side`, `rm -rf .git`, `rm -rf .git/objects`, `git cherry-pick --no-commit HEAD~1 2>/dev/null; echo p > picked`, `git revert --no-edit HEAD -q 2>/dev/null || git revert --no-edit HEAD`,
}
