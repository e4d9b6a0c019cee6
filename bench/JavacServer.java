import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles again and again in one process: a JSON array of strings a line in, errors and a line with NUL out. */
public class JavacServer {
    public static void main(String[] given) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            List<String> words = words(line);
            List<String> options = new ArrayList<>();
            List<File> files = new ArrayList<>();
            for (String word : words.subList(1, words.size())) {
                if (word.endsWith(".java")) {
                    files.add(new File(word));
                } else {
                    options.add(word);
                }
            }
            StringWriter errors = new StringWriter();
            boolean right;
            try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
                right = compiler.getTask(errors, manager, null, options, null, manager.getJavaFileObjectsFromFiles(files))
                    .call();
            }
            System.out.print(right ? "" : "\n".equals(errors.toString()) ? "error\n" : errors + "\n");
            System.out.print("\0\n");
            System.out.flush();
        }
    }

    /** The strings of a JSON array that has nothing else in it. */
    private static List<String> words(String json) {
        List<String> found = new ArrayList<>();
        StringBuilder word = null;
        for (int at = 0; at < json.length(); at++) {
            char letter = json.charAt(at);
            if (word == null) {
                word = letter == '"' ? new StringBuilder() : null;
            } else if (letter == '"') {
                found.add(word.toString());
                word = null;
            } else if (letter != '\\') {
                word.append(letter);
            } else if (json.charAt(++at) == 'u') {
                word.append((char) Integer.parseInt(json.substring(at + 1, at + 5), 16));
                at += 4;
            } else {
                word.append(json.charAt(at));
            }
        }
        return found;
    }
}
